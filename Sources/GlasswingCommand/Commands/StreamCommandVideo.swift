import LinkProtocol
import MWDATCamera
import Units

extension StreamCommand {
  /// What is to be written to `--video-out`; nil for nothing.
  func videoOutFormat() throws(CommandFailure) -> VideoOutFormat? {
    guard let path = arguments.givenText(.videoOut) else {
      guard !arguments.has(.format) else {
        throw CommandFailure(
          subject: "stream", "--format says what --video-out writes, which is missing", next: "add --video-out")
      }
      return nil
    }
    guard path != "-" || !arguments.has(.json) else {
      throw CommandFailure(
        subject: "stream", "--json and --video-out - both need standard output", next: "name a file after --video-out")
    }
    if let text = arguments.text(.format), let format = VideoOutFormat(rawValue: text) { return format }
    guard let format = VideoOutFormat(path: path) else {
      let names = VideoOutFormat.allCases.map(\.rawValue).joined(separator: ", ")
      throw CommandFailure(
        subject: path == "-" ? "standard output" : path, "nothing says what kind of video is to be written",
        next: "add --format with one of \(names)")
    }
    return format
  }

  /// Opens what `--video-out` names. A named pipe opens when it has a reader; a signal ends waiting for one.
  func openVideoOut(_ format: VideoOutFormat?) async throws(CommandFailure) -> VideoOut? {
    guard let format, let path = arguments.givenText(.videoOut) else { return nil }
    let opened = ResumeOnce<Swift.Result<VideoOutTarget, CommandFailure>>()
    Interruption.shared.whenRaised { _ in
      opened.resume(
        with: .failure(CommandFailure(.cutOff, subject: path, "interrupted before anybody read from it")))
    }
    let overwrites = arguments.has(.force)
    let lane = timekeeper.makeLane("video-out")
    lane.run(at: timekeeper.now) {
      opened.resume(
        with: Swift.Result { () throws(CommandFailure) in
          try path == "-" ? VideoOutTarget.standardOutput() : VideoOutTarget.open(path, overwrites: overwrites)
        })
    }
    let target = try await opened.value().get()
    lane.end()
    let rate = arguments.text(.fps).flatMap { Int($0) } ?? 30
    return VideoOut(format, frameRate: rate, target: target)
  }
}

extension VideoOutFormat {
  /// What the stream has to deliver for it.
  var codec: VideoCodec {
    switch self {
    case .i420, .y4m: .raw
    case .hevc, .nut: .hvc1
    }
  }
}
