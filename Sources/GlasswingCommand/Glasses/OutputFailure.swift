import Glasswing

extension CommandFailure {
  /// A recorder's error as a line with the next step.
  ///
  /// - Parameter option: which named the file.
  init(_ status: ExitStatus = .couldNotStart, recording error: RecorderError, option: Option = .output) {
    let flag = OptionTable.spec(option).flag
    switch error {
    case .unknownContainer(let path):
      self.init(
        status, subject: path, "the name's ending says no kind of file",
        next: "use .mp4, .mov or .mkv, or --container")
    case .fileExists(let path): self.init(existing: path)
    case .folderMissing(let path):
      self.init(status, subject: path, "there is no such folder", next: "make it, or name another file after \(flag)")
    case .notWritable(let path, let reason):
      self.init(status, subject: path, "can't be written: \(reason)", next: "name another file after \(flag)")
    case .diskFull(let path):
      self.init(status, subject: path, "the disk is full; the file plays up to there", next: "free some space")
    case .writeFailed(let path, let reason):
      self.init(status, subject: path, "writing failed: \(reason)", next: "try another disk")
    case .nothingRecorded(let path):
      self.init(
        status, subject: path,
        option == .audioOut ? "no sound came, so there is no file" : "no picture came, so there is no file",
        next: "see glasswing doctor")
    case .stalled(let path):
      self.init(status, subject: path, "the disk didn't take the rest in time", next: "try another disk")
    case .needsCompressedVideo, .unreadableSample, .notRecording, .unsupportedAudio, .needsAudio:
      self.init(status, subject: "recording", error.message)
    }
  }

  init(existing path: String) {
    self.init(subject: path, "a file of that name exists", next: "add --force to write over it")
  }
}
