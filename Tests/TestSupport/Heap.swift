import Foundation

/// What this process has allocated and not freed, in all its threads: unlike resident memory it shows a leak of a few
/// bytes.
package enum Heap {
  /// nil where the C library can't say, as under a sanitizer with an allocator of its own.
  package static var bytesInUse: Int? {
    guard !ThreadSanitizer.isOn, let report else { return nil }
    var text: UnsafeMutablePointer<CChar>?
    var length = 0
    guard let file = open_memstream(&text, &length) else { return nil }
    let status = report(0, file)
    fclose(file)
    defer { free(text) }
    guard status == 0, let text else { return nil }
    // malloc_info(3): after what is said of each arena stand the sums.
    var sums: [Substring: Int] = [:]
    for match in String(cString: text).matches(of: /type="(\w+)"[^>]*size="(\d+)"/) { sums[match.1] = Int(match.2) }
    guard let whole = sums["current"], let fast = sums["fast"], let rest = sums["rest"] else { return nil }
    return whole - fast - rest + (sums["mmap"] ?? 0)
  }

  private typealias Report = @convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32

  /// Looked up, since Swift's module of the C library leaves its header out.
  private static let report: Report? = dlsym(dlopen(nil, RTLD_NOW), "malloc_info").map {
    unsafeBitCast($0, to: Report.self)
  }
}
