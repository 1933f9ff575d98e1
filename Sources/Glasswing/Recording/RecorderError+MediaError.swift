import MediaEngine

extension RecorderError {
  /// What went wrong with a file, by the engine's words.
  ///
  /// - Parameter path: of the file, where the engine names none.
  init(_ error: MediaError, path: String) {
    let path = error.path ?? path
    switch error.cause {
    case .storageFull: self = .diskFull(path: path)
    case .fileNotWritable: self = .notWritable(path: path, reason: error.reason)
    case .malformedData, .parameterSetsMissing, .firstUnitNotSync: self = .unreadableSample(reason: error.reason)
    case .fileNotFound, .fileNotReadable, .notARegularFile, .emptyFile, .notMedia, .truncatedFile, .noVideoTrack,
      .noAudioTrack, .noDecodableAudio, .damagedAudio, .audioFormatNotSupported,
      .codecNotSupported, .noDecodablePicture, .writingFailed, .parameterSetsChanged, .finished, .damagedPicture,
      .syncUnitNeeded, .pixelFormatNotSupported, .sizeNotSupported, .outOfMemory, .libraryFailure:
      self = .writeFailed(path: path, reason: error.reason)
    }
  }
}

extension MediaError {
  /// What is wrong, without the path, which our own errors carry.
  fileprivate var reason: String {
    MediaError(cause, while: stage, detail, library: library).description
  }
}
