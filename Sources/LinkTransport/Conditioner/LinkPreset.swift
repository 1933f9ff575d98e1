import Units

/// Networks by name, for tests, simulated glasses and `glasswing relay`.
///
/// They are made up, so that one run can be compared with the next; each figure says what it leans on. Stalls are loss as
/// TCP shows it: Linux repeats after one round trip where later segments arrived, else after 200 ms at the least
/// (`TCP_RTO_MIN`), and waits twice as long each time that fails.
package enum LinkPreset: String, CaseIterable, Hashable, Sendable {
  /// A serial link (RFCOMM) over EDR. The longest packets, 3-DH5, carry 2178 kbit/s one way and 177 kbit/s the other
  /// (Bluetooth Core, volume 2, part B, table of ACL packets); 1.2 Mbit/s is what is left beside sound and Wi-Fi in the
  /// same band. Polled in slots of 625 µs and repeated by the baseband: some 15 ms, and stalls while the band is taken.
  case bluetoothClassic = "bluetooth-classic"
  /// An access point in the same room with nobody else on it. A client that saves power hears of data with the next
  /// beacon, each 102.4 ms (IEEE 802.11), which makes the rare stalls.
  case wifi
  /// Many on one channel: little air time, a deep queue at the access point, and now and then a burst that link-level
  /// repeats don't save, so that TCP's have to.
  case wifiBusy = "wifi-busy"
  /// A phone's uplink. A grant to send is asked for and given in some 10 ms, repeats take 8 ms each (3GPP TS 36.321),
  /// buffers are deep because loss is hidden, and a handover stops everything for some 50 ms or more.
  case lte
  /// The last metres: the lowest rates, most packets repeated, whole seconds lost. TCP's second and third repeat show.
  case edgeOfRange = "edge-of-range"

  /// What it does to one direction; to the app is the way of media.
  package func condition(_ direction: LinkConditioner.Direction) -> LinkCondition {
    switch (self, direction) {
    case (.bluetoothClassic, .toApp): Self.bluetooth(.kilobitsPerSecond(1200))
    case (.bluetoothClassic, .toGlasses): Self.bluetooth(.kilobitsPerSecond(177))
    case (.wifi, _):
      LinkCondition(
        rate: .kilobitsPerSecond(40_000), queue: .milliseconds(50), latency: .milliseconds(2), jitter: .milliseconds(3),
        stalls: .init(every: .seconds(15), lasting: .milliseconds(20)...(.milliseconds(103))))
    case (.wifiBusy, _):
      LinkCondition(
        rate: .kilobitsPerSecond(4000), queue: .milliseconds(250), latency: .milliseconds(5), jitter: .milliseconds(20),
        stalls: .init(every: .seconds(3), lasting: .milliseconds(40)...(.milliseconds(250))))
    case (.lte, .toApp): Self.lte(.kilobitsPerSecond(5000))
    case (.lte, .toGlasses): Self.lte(.kilobitsPerSecond(20_000))
    case (.edgeOfRange, _):
      LinkCondition(
        rate: .kilobitsPerSecond(400), queue: .milliseconds(300), latency: .milliseconds(15), jitter: .milliseconds(60),
        stalls: .init(every: .seconds(3), lasting: .milliseconds(200)...(.milliseconds(1400))))
    }
  }

  private static func bluetooth(_ rate: Bitrate) -> LinkCondition {
    LinkCondition(
      rate: rate, queue: .milliseconds(120), latency: .milliseconds(15), jitter: .milliseconds(15),
      stalls: .init(every: .seconds(5), lasting: .milliseconds(50)...(.milliseconds(250))))
  }

  private static func lte(_ rate: Bitrate) -> LinkCondition {
    LinkCondition(
      rate: rate, queue: .milliseconds(400), latency: .milliseconds(30), jitter: .milliseconds(16),
      stalls: .init(every: .seconds(10), lasting: .milliseconds(50)...(.milliseconds(300))))
  }
}

extension LinkConditioner {
  /// Makes both directions of each link what the preset says. Rules, mutes and holds stay.
  package func apply(_ preset: LinkPreset) {
    for direction in Direction.allCases { setCondition(preset.condition(direction), direction) }
  }
}
