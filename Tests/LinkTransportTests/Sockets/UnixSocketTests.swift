import Foundation
import Glibc
import LinkProtocol
import TestSupport
import Testing
import Units

@testable import LinkTransport

@Suite("Unix sockets", .exclusive(.mockKit))
struct UnixSocketTests {
  private func mode(_ path: String) -> UInt32? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode : nil
  }

  @Test("are their owner's alone, say who is at the other end, and take their file along")
  func life() async throws {
    let path = SocketServer.path()
    let listener = try UnixListener(on: path)
    #expect(mode(path).map { $0 & 0o7777 } == 0o600)
    let accepted = Observed<UnixTransport>()
    try listener.start { accepted.record($0) }
    let client = UnixTransport(to: path)
    #expect(client.peerCredentials == nil)
    let end = SocketEnd(client)
    end.open()
    try await accepted.wait { $0.count == 1 }
    let own = PeerCredentials(process: getpid(), user: geteuid(), group: getegid())
    #expect(client.peerCredentials == own && accepted.values[0].peerCredentials == own)
    listener.stop()
    listener.stop()
    #expect(mode(path) == nil)
    let late = UnixTransport(to: path)
    let lateEnd = SocketEnd(late)
    lateEnd.open()
    #expect(try await lateEnd.waitForClose() == .failed("connect \(path): No such file or directory"))
    guard case .unreachable(let failures) = late.connectFailure else {
      Issue.record("\(String(describing: late.connectFailure))")
      return
    }
    #expect(failures.map(\.cause) == [.system("connect", subject: path, code: ENOENT)])
  }

  @Test("a served path is refused; a stale socket is removed; any other file is left alone")
  func stale() throws {
    let path = SocketServer.path()
    do {
      let listener = try UnixListener(on: path)
      // Also before it accepts, and while its queue is being filled.
      #expect(throws: SocketFailure.alreadyServed(path)) { try UnixListener(on: path) }
      #expect(mode(path) != nil)
      withExtendedLifetime(listener) {}
    }
    #expect(mode(path) == nil)
    // What a process that was killed leaves.
    let descriptor = try SocketCalls.make(AF_UNIX, for: path)
    _ = try SystemAddress(path: path).withPointer { bind(descriptor, $0, $1) }
    close(descriptor)
    #expect(mode(path) != nil)
    do {
      let listener = try UnixListener(on: path)
      #expect(mode(path).map { $0 & 0o7777 } == 0o600)
      // Somebody put another one there: that is theirs.
      unlink(path)
      #expect(FileManager.default.createFile(atPath: path, contents: Data([1])))
      listener.stop()
      #expect(mode(path) != nil)
    }
    #expect(throws: SocketFailure.pathTaken(path)) { try UnixListener(on: path) }
    #expect(FileManager.default.contents(atPath: path) == Data([1]))
    unlink(path)
  }

  @Test("a path that is too long, or names nothing, is refused on both sides")
  func paths() async throws {
    let longest = "/tmp/" + String(repeating: "x", count: 102)
    #expect(longest.utf8.count == SystemAddress.pathLimit)
    #expect(throws: Never.self) { try UnixListener(on: longest) }
    let long = longest + "x"
    #expect(throws: SocketFailure.pathTooLong(long, limit: 107)) { try UnixListener(on: long) }
    let end = SocketEnd(UnixTransport(to: long))
    end.open()
    #expect(
      try await end.waitForClose()
        == .failed("\(long): longer than the 107 bytes that a socket's path may have"))
    #expect(throws: SocketFailure.system("path", subject: "", code: EINVAL)) { try UnixListener(on: "") }
    #expect(throws: SocketFailure.self) { try UnixListener(on: "/tmp/a\0b") }
    #expect(throws: SocketFailure.system("open", subject: "/tmp/none.such", code: ENOENT)) {
      try UnixListener(on: "/tmp/none.such/a")
    }
  }

  @Test("while one looks at the path no other does")
  func oneAtATime() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("gw-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    let path = folder.path + "/a"
    let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY)
    #expect(flock(descriptor, LOCK_EX) == 0)
    #expect(throws: SocketFailure.alreadyServed(path)) { try UnixListener(on: path) }
    close(descriptor)
    #expect(throws: Never.self) { try UnixListener(on: path) }
    #expect(rmdir(folder.path) == 0)
  }

  @Test("of many that begin at once exactly one serves")
  func race() async throws {
    let path = SocketServer.path()
    let descriptor = try SocketCalls.make(AF_UNIX, for: path)
    _ = try SystemAddress(path: path).withPointer { bind(descriptor, $0, $1) }
    close(descriptor)
    let listeners = await withTaskGroup(of: UnixListener?.self) { group in
      for _ in 0..<16 { group.addTask { try? UnixListener(on: path) } }
      return await group.reduce(into: [UnixListener]()) { listeners, one in one.map { listeners.append($0) } }
    }
    #expect(listeners.count == 1)
    #expect(mode(path) != nil)
  }
}
