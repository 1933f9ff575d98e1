import CTurboJPEG

/// One TurboJPEG handle, freed with its owner. Used by one thread at a time.
final class TurboJPEG {
  let handle: tjhandle

  enum Direction {
    case compress, decompress
  }

  init(_ direction: Direction) throws(MediaError) {
    let made =
      switch direction {
      case .compress: tjInitCompress()
      case .decompress: tjInitDecompress()
      }
    guard let made else { throw MediaError(.outOfMemory, while: .opening, "TurboJPEG gave no handle") }
    handle = made
  }

  deinit { tjDestroy(handle) }

  /// Throws unless a call returned 0, with TurboJPEG's words. A warning (a file with extra or missing bytes that still
  /// gives a whole picture of some kind) is a failure too: a damaged image is never passed on unmarked.
  func check(
    _ function: String, while stage: MediaError.Stage, cause: MediaError.Cause, _ body: () -> Int32
  ) throws(MediaError) {
    let code = body()
    guard code != 0 else { return }
    let text = tjGetErrorStr2(handle).map { String(cString: $0) } ?? ""
    throw MediaError(cause, while: stage, library: .init(function: function, code: code, text: text))
  }
}
