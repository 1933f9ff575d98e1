/// How the program ends, for scripts.
enum ExitStatus: Int32, Sendable, CaseIterable {
  case done = 0
  case couldNotStart = 1
  case cutOff = 2

  /// As the manual says it.
  var meaning: String {
    switch self {
    case .done: "Done; for a recording without --seconds, also when it was ended by Ctrl-C."
    case .couldNotStart:
      "It could not start: a wrong option, a file that can't be read or written, no glasses; "
        + "for doctor: a check has failed."
    case .cutOff:
      "It began and was cut off before its end, by a signal or by a failure on the way. "
        + "Files are complete up to there."
    }
  }
}

/// Why a command ends without having done its work: one line for standard error.
struct CommandFailure: Error, Equatable, Sendable {
  let status: ExitStatus
  /// What it is about: a command, a file, an option.
  let subject: String?
  let words: String
  /// What to do now.
  let next: String?

  init(_ status: ExitStatus = .couldNotStart, subject: String?, _ words: String, next: String? = nil) {
    self.status = status
    self.subject = subject
    self.words = words
    self.next = next
  }

  /// `glasswing: record: there is no option --ofps; did you mean --fps?` Line breaks of foreign texts become spaces.
  var line: String {
    var line = OptionTable.program + ": "
    if let subject { line += subject + ": " }
    line += words
    if let next { line += "; " + next }
    return line.map { $0.isNewline ? " " : String($0) }.joined()
  }
}
