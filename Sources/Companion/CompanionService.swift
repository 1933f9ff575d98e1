import Glibc
import LinkProtocol
import LinkTransport
import Trust

/// The companion at its socket, for the programs of this user. One at a time for a folder; ends when it is released.
package final class CompanionService: Sendable {
  package let companion: Companion
  private let listener: UnixListener

  /// Throws `alreadyRunning` where another process serves the folder.
  package init(
    _ folder: CompanionFolder, hostName: String = CompanionService.hostName(),
    timekeeper: any Timekeeper = SystemTimekeeper.shared
  ) throws(CompanionError) {
    do throws(PrivateFileError) {
      try PrivateFile.prepareFolder(folder.path)
    } catch {
      throw .store(.file(error))
    }
    // The socket first: who has it has the folder's files to itself.
    do throws(SocketFailure) {
      listener = try UnixListener(on: folder.socket)
    } catch {
      if case .alreadyServed = error { throw .alreadyRunning }
      throw .socket(error)
    }
    let companion = try Companion(folder, hostName: hostName, timekeeper: timekeeper)
    self.companion = companion
    do throws(SocketFailure) {
      try listener.start { [weak companion] transport in
        // The file's mode says so already; this holds where a file system does not.
        guard transport.peerCredentials?.user == geteuid() else { return }
        companion?.serve(transport)
      }
    } catch {
      throw .socket(error)
    }
  }

  deinit { end() }

  /// Nobody new is let in, and all are told goodbye. Idempotent.
  package func end() {
    listener.stop()
    companion.end()
  }

  /// The machine's name.
  package static func hostName() -> String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
