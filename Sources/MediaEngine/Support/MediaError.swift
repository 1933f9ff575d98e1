/// What went wrong in the media engine: the cause to act on, where it happened, and the library's own words.
package struct MediaError: Error, Hashable, Sendable {
  /// What a caller can act on.
  package enum Cause: Hashable, Sendable {
    // Files that are read
    /// No file at the path.
    case fileNotFound
    /// The file exists, but this process may not read it.
    case fileNotReadable
    /// A folder, a pipe or a device: nothing that can be read as a file.
    case notARegularFile
    /// A file of 0 bytes.
    case emptyFile
    /// A file whose bytes are of no known media format.
    case notMedia
    /// A media file that ends before the part without which none of it plays.
    case truncatedFile
    /// A media file without a video track, such as audio alone.
    case noVideoTrack
    /// A video track in a codec, by this name, that there is no decoder for.
    case codecNotSupported(String)
    /// A video track of which no picture could be decoded.
    case noDecodablePicture
    /// A media file without a sound track, such as silent video.
    case noAudioTrack
    /// A sound track of which nothing could be decoded.
    case noDecodableAudio

    // Files that are written
    /// The path can't be created or opened for writing.
    case fileNotWritable
    /// No space left on the device, or a quota is used up.
    case storageFull
    /// The writing was refused or failed otherwise.
    case writingFailed
    /// A recording was to begin with a unit that does not decode alone.
    case firstUnitNotSync
    /// The parameter sets changed where the container can hold one set only: go on in a new file.
    case parameterSetsChanged
    /// Used after its end.
    case finished

    // Coded pictures
    /// Bytes that are not well-formed: lengths that point outside, missing fields, an impossible size.
    case malformedData
    /// Parameter sets are missing or incomplete.
    case parameterSetsMissing
    /// The picture, or one that it refers to, is damaged or was lost.
    case damagedPicture
    /// Withheld: after damage, or at the beginning, only a sync unit can be decoded.
    case syncUnitNeeded

    // Sound
    /// A packet of sound that can't be decoded. The next one may.
    case damagedAudio
    /// A sampling rate, a number of channels, or a codec for them, that the operation does not take.
    case audioFormatNotSupported

    // Pictures
    /// A pixel format that the operation does not take.
    case pixelFormatNotSupported
    /// A width or height that is 0, odd where it may not be, or beyond the limit.
    case sizeNotSupported

    // The library
    /// No memory.
    case outOfMemory
    /// Any other failure of a library call.
    case libraryFailure
  }

  /// What was being done.
  package enum Stage: String, Hashable, Sendable {
    case opening, reading, decoding, converting, encoding, writing, finishing
  }

  /// The call that failed and what its library says about it.
  package struct LibraryFailure: Hashable, Sendable {
    /// The C function.
    package let function: String
    /// The code it returned, as the library defines it.
    package let code: Int32
    /// The library's words for the code, and what it logged during the call.
    package let text: String

    package init(function: String, code: Int32, text: String) {
      self.function = function
      self.code = code
      self.text = text
    }
  }

  package let cause: Cause
  package let stage: Stage
  /// What exactly is wrong, in words that may follow a file's name; empty where the cause says it all.
  package let detail: String
  package let library: LibraryFailure?
  /// The file, where there is one.
  package let path: String?

  package init(
    _ cause: Cause, while stage: Stage, _ detail: String = "", library: LibraryFailure? = nil, path: String? = nil
  ) {
    self.cause = cause
    self.stage = stage
    self.detail = detail
    self.library = library
    self.path = path
  }

  /// The same error about this file, if it does not name one yet.
  package func about(path: String) -> MediaError {
    MediaError(cause, while: stage, detail, library: library, path: self.path ?? path)
  }

  /// The same error by another cause, where the caller knows better than a library's code.
  func `as`(_ cause: Cause) -> MediaError { MediaError(cause, while: stage, detail, library: library, path: path) }
}

extension MediaError: CustomStringConvertible {
  /// One line for people: the file, what is wrong with it, and the library's words; which call it was and what it
  /// returned only where the cause does not say more.
  package var description: String {
    var parts: [String] = []
    if let path { parts.append(path) }
    parts.append(detail.isEmpty ? cause.text : "\(cause.text) (\(detail))")
    if let library {
      let isUnexplained = cause == .libraryFailure
      parts.append(isUnexplained ? "\(library.function) returned \(library.code), \(library.text)" : library.text)
    }
    return parts.joined(separator: ": ")
  }
}

extension MediaError.Cause {
  /// The cause in words that may follow a file's name.
  package var text: String {
    switch self {
    case .fileNotFound: "no such file"
    case .fileNotReadable: "the file may not be read"
    case .notARegularFile: "not a regular file"
    case .emptyFile: "the file is empty"
    case .notMedia: "not a media file"
    case .truncatedFile: "the file is cut off"
    case .noVideoTrack: "there is no video track"
    case .codecNotSupported(let name): "there is no decoder for the codec \(name)"
    case .noDecodablePicture: "no picture can be decoded"
    case .noAudioTrack: "there is no sound track"
    case .noDecodableAudio: "no sound can be decoded"
    case .fileNotWritable: "the file can't be written"
    case .storageFull: "no space is left for the file"
    case .writingFailed: "writing failed"
    case .firstUnitNotSync: "the first unit is not a sync unit"
    case .parameterSetsChanged: "the parameter sets changed"
    case .finished: "used after its end"
    case .malformedData: "malformed data"
    case .parameterSetsMissing: "parameter sets are missing"
    case .damagedPicture: "the picture is damaged"
    case .syncUnitNeeded: "a sync unit is needed"
    case .damagedAudio: "the sound is damaged"
    case .audioFormatNotSupported: "the form of sound is not supported"
    case .pixelFormatNotSupported: "the pixel format is not supported"
    case .sizeNotSupported: "the size is not supported"
    case .outOfMemory: "no memory"
    case .libraryFailure: "a library call failed"
    }
  }
}
