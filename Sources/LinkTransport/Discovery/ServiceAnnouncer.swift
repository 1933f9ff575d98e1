import CAvahi
import LinkProtocol
import Synchronization
import Trust
import Units

/// The type of the service, as it is asked for on the network (RFC 6763, 7).
enum ServiceType { static let glasswing = "_glasswing._tcp" }

/// Lets others on the network find these glasses, by DNS-SD through the host's Avahi daemon. Where there is none, nothing
/// fails: it waits for one to come. What it announces is for anybody to read: a name, the identifier, a port.
///
/// Ends when it is stopped or released; what was announced is taken back then.
package final class ServiceAnnouncer: Sendable {
  package enum State: Hashable, Sendable {
    /// No daemon, so far or any more.
    case unavailable
    /// Asked of the daemon.
    case announcing
    /// Under this name; another than was wished for where somebody else has that.
    case announced(name: String)
  }

  private let announcement: Announcement

  /// - Parameters:
  ///   - name: of the glasses, as people see it. Cut to 63 bytes.
  ///   - changed: each new state. On a thread of libavahi's; must not block.
  package init(
    name: String, identifier: GlassesIdentifier, port: UInt16, timekeeper: any Timekeeper = SystemTimekeeper.shared,
    changed: @escaping @Sendable (State) -> Void
  ) {
    let announcement = Announcement(
      name: ServiceName.label(name), text: ServiceText(identifier: identifier), port: port, changed: changed)
    let link = AvahiLink(user: announcement, timekeeper: timekeeper)
    announcement.link.withLock { $0 = link }
    self.announcement = announcement
    link?.begin()
  }

  deinit { stop() }

  /// Soon after, nobody finds it any more. Idempotent.
  package func stop() { announcement.link.withLock { $0.take() }?.end() }
}

/// `@unchecked Sendable`: all but `link` is touched with the lock of libavahi's loop held, and by nobody else.
private final class Announcement: AvahiUser, @unchecked Sendable {
  /// Names tried one after the other before it is given up until the daemon comes anew.
  private static let mostNames = 100

  /// nil once it is over.
  let link = Mutex<AvahiLink?>(nil)
  private let wish: String
  private let text: ServiceText
  private let port: UInt16
  private let changed: @Sendable (ServiceAnnouncer.State) -> Void
  private var name: String
  private var group: OpaquePointer?
  private var state: ServiceAnnouncer.State?
  private var namesLeft = mostNames

  init(
    name: String, text: ServiceText, port: UInt16, changed: @escaping @Sendable (ServiceAnnouncer.State) -> Void
  ) {
    wish = name
    self.name = name
    self.text = text
    self.port = port
    self.changed = changed
  }

  func running(_ client: OpaquePointer) {
    if group == nil {
      namesLeft = Self.mostNames
      group = avahi_entry_group_new(
        client,
        { group, state, context in
          guard let group, let context else { return }
          Unmanaged<Announcement>.fromOpaque(context).takeUnretainedValue().groupChanged(group, state)
        }, Unmanaged.passUnretained(self).toOpaque())
    }
    guard let group else { return restart() }
    announce(group)
  }

  func paused() {
    if let group { avahi_entry_group_reset(group) }
    tell(.announcing)
  }

  func lost() {
    group = nil
    // With the next daemon the wish may be free.
    name = wish
    tell(.unavailable)
  }

  private func announce(_ group: OpaquePointer) {
    guard avahi_entry_group_is_empty(group) != 0 else { return }
    tell(.announcing)
    while true {
      switch Int(add(to: group)) {
      case AVAHI_OK:
        if Int(avahi_entry_group_commit(group)) != AVAHI_OK { restart() }
        return
      case AVAHI_ERR_COLLISION where namesLeft > 0:
        takeAnotherName()
        avahi_entry_group_reset(group)
      case _: return restart()
      }
    }
  }

  private func add(to group: OpaquePointer) -> Int32 {
    var list: UnsafeMutablePointer<AvahiStringList>?
    // Each goes in front of those before it.
    for record in text.records.reversed() { list = avahi_string_list_add_arbitrary(list, record, record.count) }
    defer { avahi_string_list_free(list) }
    return avahi_entry_group_add_service_strlst(
      group, AvahiIfIndex(AVAHI_IF_UNSPEC), AvahiProtocol(AVAHI_PROTO_UNSPEC), AvahiPublishFlags(rawValue: 0), name,
      ServiceType.glasswing, nil, nil, port, list)
  }

  private func takeAnotherName() {
    namesLeft -= 1
    guard let other = avahi_alternative_service_name(name) else { return }
    name = String(cString: other)
    avahi_free(other)
  }

  private func groupChanged(_ group: OpaquePointer, _ state: AvahiEntryGroupState) {
    switch state {
    case AVAHI_ENTRY_GROUP_ESTABLISHED: tell(.announced(name: name))
    case AVAHI_ENTRY_GROUP_COLLISION:
      takeAnotherName()
      avahi_entry_group_reset(group)
      announce(group)
    case AVAHI_ENTRY_GROUP_FAILURE: restart()
    case _: break
    }
  }

  private func restart() { link.withLock { $0 }?.restart() }

  private func tell(_ new: ServiceAnnouncer.State) {
    guard new != state else { return }
    state = new
    changed(new)
  }
}
