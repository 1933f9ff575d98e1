import Foundation
import Glasswing
import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import Units

/// `glasswing photo`: one photo while the glasses stream, its bytes as they came.
struct PhotoCommand {
  /// For `--json`.
  struct Result: Codable, Equatable {
    let file: String
    let format: String
    let bytes: Int
    let width: Int?
    let height: Int?
    /// From the request to the bytes.
    let milliseconds: Double

    enum CodingKeys: String, CodingKey {
      case file, format, bytes, width, height
      case milliseconds = "capture_ms"
    }
  }

  private enum End: Sendable {
    case photo(PhotoData)
    case failed(String?)
    case signal
    case timeout
  }

  /// Longer than the glasses' own deadlines for a start and for a photo together.
  private static let deadline: Duration = .seconds(25)

  private let arguments: Arguments
  private let timekeeper: any Timekeeper
  private let path: String

  init(_ arguments: Arguments, timekeeper: any Timekeeper = SystemTimekeeper.shared) {
    self.arguments = arguments
    self.timekeeper = timekeeper
    path = arguments.text(.output) ?? ""
  }

  /// What was asked for, else what the file's name says, else JPEG. A name that says something else is refused, so that
  /// no file lies about what it holds.
  static func format(asked: String?, path: String) throws(CommandFailure) -> PhotoCaptureFormat {
    let ending = URL(filePath: path).pathExtension.lowercased()
    let named: PhotoCaptureFormat?
    switch ending {
    case "heic", "heif": named = .heic
    case "jpg", "jpeg": named = .jpeg
    case "png", "gif", "webp", "tif", "tiff", "bmp", "avif":
      throw CommandFailure(subject: path, "photos are JPEG or HEIC", next: "name a .jpg or .heic file after --output")
    default: named = nil
    }
    guard let asked else { return named ?? .jpeg }
    let wanted: PhotoCaptureFormat = asked == "heic" ? .heic : .jpeg
    guard named == nil || named == wanted else {
      throw CommandFailure(subject: path, "the name ends in .\(ending) and --format says \(asked)", next: "change one")
    }
    return wanted
  }

  func run() async throws(CommandFailure) -> ExitStatus {
    try arguments.checkGlasses()
    try arguments.checkFiles()
    let format = try Self.format(asked: arguments.givenText(.format), path: path)
    let end = ResumeOnce<End>()
    // Before the name is taken: a signal must not leave an empty file.
    Interruption.shared.whenRaised { _ in end.resume(with: .signal) }
    let file = try ClaimedFile.claim(path, overwrites: arguments.has(.force))
    let photo: PhotoData
    let elapsed: Duration
    do throws(CommandFailure) {
      (photo, elapsed) = try await capture(format, end)
      try file.write(photo.data)
    } catch {
      file.abandon()
      throw error
    }
    try tell(photo, elapsed)
    return .done
  }

  private func capture(_ format: PhotoCaptureFormat, _ end: ResumeOnce<End>) async throws(CommandFailure) -> (
    PhotoData, Duration
  ) {
    let feed = arguments.givenText(.feed)
    // A small stream: the photo comes from the camera at its full size whatever the stream's is.
    let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 15)
    let camera = try await OpenCamera.open(arguments, configuration)
    let stream = camera.stream
    let watch = StreamWatch(stream) { end.resume(with: .failed($0)) }
    let tokens = ListenerTokenBag()
    stream.photoDataPublisher.listen { end.resume(with: .photo($0)) }.store(in: tokens)
    stream.errorPublisher.listen { error in
      if error == .photoCaptureFailed { end.resume(with: .failed(watch.cause)) }
    }.store(in: tokens)
    stream.statePublisher.listen { [weak stream] state in
      guard state == .streaming, let stream else { return }
      if !stream.capturePhoto(format: format) { end.resume(with: .failed("the glasses refused to take a photo")) }
    }.store(in: tokens)
    let lane = timekeeper.makeLane("photo-deadline")
    lane.run(at: timekeeper.now + Self.deadline) { end.resume(with: .timeout) }
    let begun = timekeeper.now
    stream.start()
    let outcome = await end.value()
    let elapsed = timekeeper.now - begun
    lane.end()
    tokens.clear()
    watch.end()
    await camera.close()
    switch outcome {
    case .photo(let photo): return (photo, elapsed)
    case .failed(let cause): throw CommandFailure(feed: feed, cause: cause ?? "the stream ended before a photo came")
    case .signal: throw CommandFailure(.cutOff, subject: path, "interrupted before the photo came")
    case .timeout: throw CommandFailure(subject: path, "no photo came in time", next: "see glasswing doctor")
    }
  }

  private func tell(_ photo: PhotoData, _ elapsed: Duration) throws(CommandFailure) {
    let name = photo.format == .heic ? "heic" : "jpeg"
    let image = UIImage(data: photo.data)
    if arguments.has(.json) {
      try Console.shared.result(
        JSONResult.text(
          Result(
            file: path, format: name, bytes: photo.data.count, width: image.map { Int($0.size.width) },
            height: image.map { Int($0.size.height) }, milliseconds: Spread.milliseconds(elapsed))))
    }
    guard !arguments.has(.quiet) else { return }
    let size = image.map { "\(Int($0.size.width))x\(Int($0.size.height)), " } ?? ""
    Console.shared.log("\(path): \(name), \(size)\(photo.data.count) bytes")
  }
}
