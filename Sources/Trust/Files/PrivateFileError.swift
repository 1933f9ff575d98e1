/// Why a private file can't be read or written.
package struct PrivateFileError: Error, Hashable, Sendable {
  package enum Cause: Hashable, Sendable {
    /// Group or others have rights to the file.
    case fileOpenToOthers(mode: UInt32)
    /// Group or others have rights to the folder.
    case folderOpenToOthers(mode: UInt32)
    /// File or folder belongs to another user.
    case notOwned(user: UInt32)
    case notARegularFile
    case notAFolder
    case tooLong(limit: Int)
    /// Somebody else makes and removes the file at the same time.
    case changing
    /// A call of the system failed.
    case system(call: String, code: Int32)
  }

  package let cause: Cause
  /// Of the file, or of the folder where that is what is wrong.
  package let path: String

  init(_ cause: Cause, path: String) {
    self.cause = cause
    self.path = path
  }
}

extension PrivateFileError: CustomStringConvertible {
  /// What is wrong, and what to do about it.
  package var description: String { "\(path) \(what); \(nextStep)" }

  package var what: String {
    switch cause {
    case .fileOpenToOthers(let mode), .folderOpenToOthers(let mode):
      "is open to other users (mode \(String(mode, radix: 8)))"
    case .notOwned(let user): "belongs to the user with the number \(user)"
    case .notARegularFile: "is not a regular file"
    case .notAFolder: "is not a folder"
    case .tooLong(let limit): "is longer than \(limit) bytes"
    case .changing: "comes and goes"
    case .system(let call, let code): "can't be used: \(SystemCall.message(code)) (\(call))"
    }
  }

  package var nextStep: String {
    switch cause {
    case .fileOpenToOthers: "if nobody else can have read it, `chmod 600` it; else remove it and pair again"
    case .folderOpenToOthers: "`chmod 700` it, or name a folder that is used for nothing else"
    case .notOwned: "run as that user, or name another folder"
    case .notARegularFile, .notAFolder: "name another folder, or move it away"
    case .tooLong: "it is none of ours; move it away"
    case .changing: "end the other process that uses the folder"
    case .system: "check the folder's rights and the disk's free space"
    }
  }
}
