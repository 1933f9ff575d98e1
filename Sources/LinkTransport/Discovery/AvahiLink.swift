import CAvahi
import LinkProtocol
import Units

/// Who uses the daemon. All calls come one at a time, with the lock of libavahi's loop held, on any thread; they must not
/// block. Objects of a client are freed with it.
protocol AvahiUser: AnyObject, Sendable {
  /// The daemon serves: what is wanted can be asked of it. Again after each `paused` and `lost`.
  func running(_ client: OpaquePointer)
  /// The host changes its name: what was announced must be taken back until it serves again.
  func paused()
  /// There is no daemon, or it is gone, and with it whatever was asked of it.
  func lost()
}

/// A client of the host's Avahi daemon that outlives the daemon: it waits for one to come, and begins anew after each.
///
/// libavahi-client is not safe for threads; its loop runs on a thread of its own, whose lock is held for each call that comes
/// from elsewhere.
///
/// `@unchecked Sendable`: `client` and `hasEnded` are guarded by that lock, and `poll` is set once.
final class AvahiLink: @unchecked Sendable {
  /// Where there is no message bus either, nobody tells of the daemon's coming.
  private static let retryInterval: Duration = .seconds(5)
  /// A daemon that is gone is rarely back at once.
  private static let restartPause: Duration = .milliseconds(100)

  private let poll: OpaquePointer
  private let user: any AvahiUser
  private let timekeeper: any Timekeeper
  private let lane: any Lane
  private var client: OpaquePointer?
  private var hasEnded = false

  /// nil where there is no memory. `begin` follows.
  init?(user: any AvahiUser, timekeeper: any Timekeeper) {
    guard let poll = avahi_threaded_poll_new() else { return nil }
    self.poll = poll
    self.user = user
    self.timekeeper = timekeeper
    lane = timekeeper.makeLane("discovery")
  }

  /// Once. From here on it holds itself, until `end`.
  func begin() {
    _ = Unmanaged.passRetained(self)
    lane.run { [self] in
      connect()
      avahi_threaded_poll_start(poll)
    }
  }

  /// Once, and from anywhere: what was asked of the daemon is taken back soon after. No call to the user begins after that.
  func end() {
    lane.run { [self] in
      locked {
        hasEnded = true
        if let client { avahi_client_free(client) }
        client = nil
      }
      // Joins the loop's thread, which this never is.
      avahi_threaded_poll_stop(poll)
      avahi_threaded_poll_free(poll)
      lane.end()
      Unmanaged.passUnretained(self).release()
    }
  }

  /// Work that libavahi must not be called with from its own callbacks, a while from now; with the lock held.
  func later(_ delay: Duration, _ work: @escaping @Sendable () -> Void) {
    lane.run(at: timekeeper.now + delay) { [self] in
      locked { if !hasEnded, client != nil { work() } }
    }
  }

  /// Begins anew, as after a daemon that is gone.
  func restart() { later(Self.restartPause) { [self] in dropClient() } }

  // MARK: - On the lane

  private func connect() {
    let isUp = locked {
      guard !hasEnded, client == nil else { return true }
      var code: Int32 = 0
      client = avahi_client_new(
        avahi_threaded_poll_get(poll), AVAHI_CLIENT_NO_FAIL,
        { client, state, context in
          guard let client, let context else { return }
          Unmanaged<AvahiLink>.fromOpaque(context).takeUnretainedValue().changed(client, state)
        }, Unmanaged.passUnretained(self).toOpaque(), &code)
      if client == nil { user.lost() }
      return client != nil
    }
    if !isUp { lane.run(at: timekeeper.now + Self.retryInterval) { [self] in connect() } }
  }

  private func dropClient() {
    if let client { avahi_client_free(client) }
    client = nil
    user.lost()
    lane.run { [self] in connect() }
  }

  private func locked<Result>(_ work: () -> Result) -> Result {
    avahi_threaded_poll_lock(poll)
    defer { avahi_threaded_poll_unlock(poll) }
    return work()
  }

  // MARK: - In libavahi's callbacks

  private func changed(_ client: OpaquePointer, _ state: AvahiClientState) {
    guard !hasEnded else { return }
    switch state {
    case AVAHI_CLIENT_S_RUNNING: user.running(client)
    case AVAHI_CLIENT_S_REGISTERING, AVAHI_CLIENT_S_COLLISION: user.paused()
    case AVAHI_CLIENT_FAILURE:
      user.lost()
      restart()
    case _: user.lost()
    }
  }
}
