import Glibc

/// What a path is, before FFmpeg sees it: FFmpeg's answers about files that aren't media are vague, and some things that
/// a path can name would block it.
enum FileCheck {
  /// Throws `.fileNotFound`, `.fileNotReadable`, `.notARegularFile` or `.emptyFile`.
  static func checkReadable(_ path: String) throws(MediaError) {
    var status = stat()
    guard stat(path, &status) == 0 else { throw failure("stat", errno, path) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      let what = status.st_mode & S_IFMT == S_IFDIR ? "a folder" : "a device, pipe or socket"
      throw MediaError(.notARegularFile, while: .opening, what, path: path)
    }
    guard access(path, R_OK) == 0 else { throw failure("access", errno, path) }
    guard status.st_size > 0 else { throw MediaError(.emptyFile, while: .opening, path: path) }
  }

  private static func failure(_ function: String, _ code: Int32, _ path: String) -> MediaError {
    let cause: MediaError.Cause = code == ENOENT || code == ENOTDIR ? .fileNotFound : .fileNotReadable
    let library = MediaError.LibraryFailure(function: function, code: code, text: String(cString: strerror(code)))
    return MediaError(cause, while: .opening, library: library, path: path)
  }

  /// Why FFmpeg can't make anything of a file, from the boxes at its top level (ISO/IEC 14496-12, 4.2): an MP4 or MOV
  /// without its index is cut off, all else is not media.
  static func explainUnreadable(_ path: String) -> (cause: MediaError.Cause, detail: String) {
    let boxes = topLevelBoxes(path)
    guard let first = boxes.first, knownFirstBoxes.contains(first.type) else { return (.notMedia, "") }
    if !boxes.contains(where: { $0.type == "moov" }) {
      return (.truncatedFile, "it ends before its index, the 'moov' box")
    }
    if let last = boxes.last, !last.isWhole { return (.truncatedFile, "its '\(last.type)' box ends early") }
    return (.notMedia, "its boxes can't be read")
  }

  private static let knownFirstBoxes: Set<String> = ["ftyp", "styp", "moov", "mdat", "free", "skip", "wide", "pnot"]
  /// A file has a handful; a fragmented one that goes on longer has its index in front.
  private static let maximumBoxes = 64

  private static func topLevelBoxes(_ path: String) -> [(type: String, isWhole: Bool)] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    let end = Int64(lseek(descriptor, 0, SEEK_END))
    var boxes: [(type: String, isWhole: Bool)] = []
    var position: Int64 = 0
    while boxes.count < maximumBoxes, let box = box(descriptor, at: position) {
      let length = box.length == 0 ? end - position : box.length
      guard length >= 8 else { break }
      boxes.append((box.type, length <= end - position))
      position += min(length, end - position)
    }
    return boxes
  }

  /// Length 0 stands for "to the end of the file", 1 for a length of 64 bits behind the type.
  private static func box(_ descriptor: Int32, at position: Int64) -> (type: String, length: Int64)? {
    var header = [UInt8](repeating: 0, count: 16)
    let count = pread(descriptor, &header, header.count, off_t(position))
    guard count >= 8 else { return nil }
    let type = String(decoding: header[4..<8], as: UTF8.self)
    let short = header[0..<4].reduce(Int64(0)) { $0 << 8 | Int64($1) }
    guard short == 1 else { return (type, short) }
    guard count == 16, header[8] < 0x80 else { return nil }
    return (type, header[8..<16].reduce(Int64(0)) { $0 << 8 | Int64($1) })
  }
}
