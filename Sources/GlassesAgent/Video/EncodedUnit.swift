import LinkProtocol
import MediaEngine
import Units

/// An access unit as the pipeline emits it: all of `AccessUnit` but the stream.
package struct EncodedUnit: Sendable {
  /// As in `AccessUnit.payload`.
  package var payload: [UInt8]
  package var flags: AccessUnit.Flags
  /// The form of the stream at this unit. The first one of a new form is a sync unit.
  package var video: VideoParameters
  /// When the picture was captured, on the glasses' clock; rises from unit to unit.
  package var captured: DeviceTime

  package init(payload: [UInt8], flags: AccessUnit.Flags, video: VideoParameters, captured: DeviceTime) {
    self.payload = payload
    self.flags = flags
    self.video = video
    self.captured = captured
  }

  package func accessUnit(stream: StreamID) -> AccessUnit {
    AccessUnit(stream: stream, flags: flags, codec: video.codec, size: video.size, captured: captured, payload: payload)
  }
}

/// Why a pipeline has ended by itself.
package enum PipelineFailure: Error, Hashable, Sendable {
  case source(SourceError)
  case encoder(MediaError)

  /// The code that the link carries.
  package var code: LinkErrorCode {
    switch self {
    case .source: .sourceFailed
    case .encoder: .encoderFailed
    }
  }

  /// What is wrong and with what, in words for people.
  package var text: String {
    switch self {
    case .source(let error): error.text
    case .encoder(let error): error.description
    }
  }
}

/// What a pipeline did since it started.
package struct PipelineStatistics: Hashable, Sendable {
  /// Pictures taken from the source.
  package var captured = 0
  /// Pictures that a newer one replaced before the encoder took them.
  package var dropped = 0
  /// Access units emitted, and those of them that are sync units.
  package var emitted = 0
  package var syncUnits = 0
  package var bytes: Int64 = 0
  /// Times that a source slower than real time made the pipeline wait for it.
  package var sourceDelays = 0
}
