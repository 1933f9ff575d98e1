import CSockets
import Glibc
import Units

/// How a stream socket behaves.
package struct StreamOptions: Sendable {
  /// Most that the kernel holds of what was written and has not been sent for the first time (over TCP), or not been read
  /// (over a Unix socket). What is above stays with the writer, who can still reorder and drop it.
  ///
  /// At 600 kbit/s 16 KiB are 220 ms. Over TCP only what the link can't take at once waits here: on a free link it is
  /// nothing.
  package var unsentLimit: ByteCount = .kibibytes(16)
  /// As `unsentLimit`, over Unix sockets, where no network has to be kept from filling.
  package var unreadLimit: ByteCount = .kibibytes(64)
  /// Most that is handed over and not yet consumed.
  package var receiveLimit: ByteCount = .kibibytes(256)
  /// Most that the kernel holds of what the peer sent, over TCP; nil leaves it to the kernel, which takes megabytes where
  /// the peer sends them. Whoever wants the peer to feel what waits behind it sets it.
  package var kernelReceiveLimit: ByteCount?
  /// Largest segment that the peer may send, and that is sent to it; nil for what the network takes, which on loopback is
  /// 64 KiB.
  package var segmentLimit: ByteCount?
  /// How long a connection may take to come up, with all its addresses and the resolver.
  package var connectLimit: Duration = .seconds(5)
  /// How long bytes may stay unacknowledged until the kernel gives the connection up. A backstop: a link's own sign of life
  /// is missed after 10 s.
  package var acknowledgeLimit: Duration = .seconds(20)
  /// How long after a close what was written is still carried to the peer.
  package var lingerLimit: Duration = .seconds(2)
  /// The congestion control that is asked for. The kernel keeps its own where it has not this one or refuses it to ordinary
  /// users. nil leaves the kernel's.
  package var congestionControl: String? = "bbr"

  package init() {}
}

/// What differs between stream sockets.
enum StreamKind: Sendable {
  case tcp, unix

  /// Before a connection is opened, and again on one that was accepted. None of it is needed to work, so none of it fails.
  func prepare(_ descriptor: Int32, _ options: StreamOptions) {
    switch self {
    case .tcp:
      let level = Int32(IPPROTO_TCP)
      SocketCalls.set(TCP_NODELAY, level: level, of: descriptor, to: 1)
      SocketCalls.set(
        Int32(glasswing_tcp_notsent_lowat), level: level, of: descriptor,
        to: Int32(clamping: Self.mark(options)))
      SocketCalls.set(
        Int32(glasswing_tcp_user_timeout), level: level, of: descriptor,
        to: Int32(clamping: options.acknowledgeLimit.nanoseconds / 1_000_000))
      if let limit = options.segmentLimit {
        SocketCalls.set(TCP_MAXSEG, level: level, of: descriptor, to: Int32(clamping: limit.bytes))
      }
      if let limit = options.kernelReceiveLimit {
        // The kernel doubles what it is given, for its own bookkeeping.
        SocketCalls.set(SO_RCVBUF, level: SOL_SOCKET, of: descriptor, to: Int32(clamping: limit.bytes))
      }
      if let name = options.congestionControl {
        setsockopt(
          descriptor, level, Int32(glasswing_tcp_congestion), name, socklen_t(name.utf8.count))
      }
    case .unix:
      // The kernel doubles what it is given.
      SocketCalls.set(SO_SNDBUF, level: SOL_SOCKET, of: descriptor, to: Int32(clamping: options.unreadLimit.bytes))
    }
  }

  /// After each read. An acknowledgement that waits for company, up to 40 ms, is time in which the sender can't tell
  /// whether its last packets are lost (RFC 1122, 4.2.3.2); the kernel forgets the wish with each that it sends.
  func hasRead(_ descriptor: Int32) {
    guard case .tcp = self else { return }
    SocketCalls.set(TCP_QUICKACK, level: Int32(IPPROTO_TCP), of: descriptor, to: 1)
  }

  /// What may wait in the kernel. Of a Unix socket half of its buffer, since the kernel says "writable" from a quarter on.
  func queueLimit(_ descriptor: Int32, _ options: StreamOptions) -> Int {
    switch self {
    case .tcp: Self.mark(options)
    case .unix: SocketCalls.get(SO_SNDBUF, level: SOL_SOCKET, of: descriptor).map { Int($0) / 2 } ?? 0
    }
  }

  /// Large enough that half of it is room for something.
  private static func mark(_ options: StreamOptions) -> Int { max(1024, options.unsentLimit.bytes) }

  /// What waits in the kernel; nil where it does not say.
  func queued(_ descriptor: Int32) -> Int? {
    let result =
      switch self {
      case .tcp: glasswing_unsent(descriptor)
      case .unix: glasswing_unread(descriptor)
      }
    return result < 0 ? nil : Int(result)
  }

  /// The congestion control in use.
  static func congestionControl(_ descriptor: Int32) -> String? {
    // TCP_CA_NAME_MAX
    var name = [UInt8](repeating: 0, count: 16)
    var length = socklen_t(name.count)
    let result = getsockopt(
      descriptor, Int32(IPPROTO_TCP), Int32(glasswing_tcp_congestion), &name, &length)
    return result == 0 ? String(decoding: name.prefix { $0 != 0 }, as: UTF8.self) : nil
  }
}

/// What the kernel grants this user.
package enum CongestionControl {
  /// What a TCP socket that asks as the options say gets; nil where none can be made.
  package static func granted(_ options: StreamOptions = StreamOptions()) -> String? {
    guard let descriptor = (try? SocketCalls.make(AF_INET, for: "")) ?? (try? SocketCalls.make(AF_INET6, for: ""))
    else { return nil }
    defer { close(descriptor) }
    StreamKind.tcp.prepare(descriptor, options)
    return StreamKind.congestionControl(descriptor)
  }
}
