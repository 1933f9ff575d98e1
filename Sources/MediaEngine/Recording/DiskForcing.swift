import Glibc

/// The calls after which what was written survives a power cut; tests stand in for them. Each takes a descriptor, and
/// returns 0 or the system's error number.
struct DiskForcing: Sendable {
  /// A file's data, and its length.
  var data: @Sendable (Int32) -> Int32 = { fdatasync($0) == 0 ? 0 : errno }
  /// A folder's entries.
  var entries: @Sendable (Int32) -> Int32 = { fsync($0) == 0 ? 0 : errno }
}
