/// As much of the recorder's errors as its file names need: the real ones would bring the whole library along.
enum RecorderError: Error {
  case fileExists(path: String)
  case folderMissing(path: String)
  case notWritable(path: String, reason: String)
  case diskFull(path: String)
}
