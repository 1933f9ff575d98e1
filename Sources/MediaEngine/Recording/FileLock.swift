import Glibc

/// Keeps two recordings, of this process or of others, from writing one file.
package enum FileLock {
  package static let refusal = "another recording is being written to it"

  /// Takes the file for as long as the descriptor is open; false if somebody has it. Where a file system knows no locks it
  /// is taken as free. Never waits.
  package static func take(_ descriptor: Int32) -> Bool {
    flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
  }
}
