import Foundation
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import Testing

/// What a type of the interface can be seen to conform to while the program runs.
private enum Conformance: String, CaseIterable {
  case error, localizedError, customNSError
  case equatable, hashable, comparable
  case caseIterable, rawRepresentable, identifiable
  case encodable, decodable
  case customStringConvertible, customDebugStringConvertible

  func holds(for type: Any.Type) -> Bool {
    switch self {
    case .error: type is any Error.Type
    case .localizedError: type is any LocalizedError.Type
    case .customNSError: type is any CustomNSError.Type
    case .equatable: type is any Equatable.Type
    case .hashable: type is any Hashable.Type
    case .comparable: type is any Comparable.Type
    case .caseIterable: type is any CaseIterable.Type
    case .rawRepresentable: type is any RawRepresentable.Type
    case .identifiable: type is any Identifiable.Type
    case .encodable: type is any Encodable.Type
    case .decodable: type is any Decodable.Type
    case .customStringConvertible: type is any CustomStringConvertible.Type
    case .customDebugStringConvertible: type is any CustomDebugStringConvertible.Type
    }
  }
}

extension Set<Conformance> {
  fileprivate static let none: Self = []
  /// An enum of plain cases has these whether or not it says so.
  fileprivate static let plain: Self = [.equatable, .hashable]
  fileprivate static let raw: Self = [.equatable, .hashable, .rawRepresentable]
  fileprivate static let listed: Self = [.equatable, .hashable, .caseIterable]
  fileprivate static let rawListed: Self = [.equatable, .hashable, .rawRepresentable, .caseIterable]
  /// `DatError` and nothing else.
  fileprivate static let bareError: Self = [.error, .localizedError]
  fileprivate static let equatableError: Self = [.error, .localizedError, .equatable]
  fileprivate static let plainError: Self = [.error, .localizedError, .equatable, .hashable]
  fileprivate static let rawError: Self = [.error, .localizedError, .equatable, .hashable, .rawRepresentable]
}

/// Conforms to all of them, so that a question that is always answered no is found.
private enum Everything: String, CaseIterable, Codable, Comparable, Identifiable, LocalizedError, CustomNSError,
  CustomStringConvertible, CustomDebugStringConvertible
{
  case only

  var id: String { rawValue }
  var description: String { rawValue }
  var debugDescription: String { rawValue }
  static func < (_: Self, _: Self) -> Bool { false }
}

/// A conformance more is one that an app can come to lean on and that its build for the phone then lacks.
struct ConformanceTests {
  private var core: [(Any.Type, Set<Conformance>)] {
    [
      (AnyAsyncSequence<Int>.self, .none),
      (AnyAsyncSequence<Int>.AnyAsyncIterator.self, .none),
      (CapabilityState.self, .plain),
      (ChargingState.self, .plain),
      (Compatibility.self, .listed),
      (DeviceSessionError.self, .equatableError),
      (DeviceSessionState.self, .plain),
      (DeviceState.self, [.equatable]),
      (DeviceType.self, .rawListed),
      (DonState.self, .plain),
      (HingeState.self, .plain),
      (LinkState.self, .plain),
      (NavigationError.self, .rawError),
      (Permission.self, .listed),
      (PermissionError.self, .rawError),
      (PermissionStatus.self, .plain),
      (RegistrationError.self, .rawError),
      (RegistrationRequestError.self, .plainError),
      (RegistrationState.self, .raw),
      (ThermalLevel.self, .plain),
      (UnregistrationError.self, .rawError),
      (Wearables.self, .none),
      (WearablesError.self, .rawError),
      (WearablesHandleURLError.self, .rawError),
    ]
  }

  private var camera: [(Any.Type, Set<Conformance>)] {
    [
      (AVAudioConverterInputStatus.self, .raw),
      (AVAudioConverterOutputStatus.self, .raw),
      (AVAudioConverterPrimeMethod.self, .raw),
      (AVAudioQuality.self, .raw),
      (AudioCodec.self, .none),
      (AudioFrame.self, .none),
      (AudioSampleRate.self, .rawListed),
      (CameraState.self, .plain),
      (PhotoCaptureData.self, .none),
      (PhotoCaptureFormat.self, .plain),
      (PhotoData.self, .none),
      (PhotoError.self, .bareError),
      (PhotoQuality.self, .rawListed),
      (PhotoResolution.self, .rawListed),
      (PhotoState.self, .plain),
      (PhotoTransferProgress.self, .none),
      (StreamConfiguration.self, .none),
      (StreamError.self, .equatableError),
      (StreamState.self, .plain),
      (StreamingResolution.self, .listed),
      (UIImage.Orientation.self, .raw),
      (VideoCodec.self, .plain),
      (VideoFrame.self, .none),
      (VideoFrameSize.self, .none),
    ]
  }

  private var mockDevice: [(Any.Type, Set<Conformance>)] {
    [
      (CameraFacing.self, .plain),
      (GlassesModel.self, .rawListed),
      (MockDeviceKit.self, .none),
      (MockDeviceKitConfig.self, .none),
      (MockDeviceKitError.self, .plainError),
    ]
  }

  @Test("ERR-4: DAT's enums, errors and structs have the conformances that DAT gives them, no more and no fewer")
  func exact() throws {
    #expect(Conformance.allCases.filter { !$0.holds(for: Everything.self) } == [])
    for (module, table) in [("MWDATCore", core), ("MWDATCamera", camera), ("MWDATMockDevice", mockDevice)] {
      for (type, expected) in table {
        let found = Conformance.allCases.filter { $0.holds(for: type) }
        #expect(found == Conformance.allCases.filter(expected.contains), "\(module).\(type)")
      }
      let listed = table.map { name(of: $0.0) }.sorted()
      let written = try declared(in: module)
      #expect(Set(written).subtracting(listed).sorted() == [], "in \(module), and not looked at")
      #expect(listed == written, "\(module): each once")
    }
  }

  /// As its declaration has it: `AnyAsyncIterator`, of whatever it is nested in and generic over.
  private func name(of type: Any.Type) -> String {
    let path = String(reflecting: type).replacing(/<[^<>]*>/, with: "")
    return String(path.split(separator: ".").last ?? "")
  }

  /// The public enums and structs in a module's sources, and its classes that are errors.
  private func declared(in module: String) throws -> [String] {
    let folder = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Sources/\(module)")
    var names: [String] = []
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where path.hasSuffix(".swift") {
      let source = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
      for match in source.matches(of: /\bpublic (?:indirect )?(?:enum|struct) (\w+)/) { names.append("\(match.1)") }
      for match in source.matches(of: /\bpublic (?:final )?class (\w+): [^{]*Error\b/) { names.append("\(match.1)") }
    }
    return names.sorted()
  }
}
