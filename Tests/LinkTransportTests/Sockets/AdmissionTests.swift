import LinkProtocol
import Testing
import Units

@testable import LinkTransport

@Suite("Admission of strangers")
struct AdmissionTests {
  private let start = Instant(nanoseconds: 1_000_000_000)

  private func address(_ text: String) throws -> SocketAddress { try #require(SocketAddress(text)) }

  private func limits(_ count: Int) -> Admission.Limits {
    var limits = Admission.Limits()
    limits.unauthenticated = count
    return limits
  }

  @Test("a place is for five seconds, and free again at every kind of end")
  func ends() throws {
    var admission = Admission()
    let peer = try address("192.0.2.1:1")
    let (a, b) = (admission.arrived(from: peer, at: start), admission.arrived(from: peer, at: start + .seconds(1)))
    let c = admission.arrived(from: peer, at: start + .seconds(2))
    #expect(admission.unauthenticated == 3 && admission.nextDeadline == start + .seconds(5))
    #expect(admission.authenticated(b.ticket) == true)
    #expect(admission.authenticated(b.ticket) == false)
    #expect(admission.timeout(at: start + .seconds(5) - .nanoseconds(1)).isEmpty)
    #expect(admission.timeout(at: start + .seconds(5)) == [a.ticket])
    #expect(admission.authenticated(a.ticket) == false)
    admission.closed(c.ticket)
    for arrival in [a, b, c] { admission.closed(arrival.ticket) }
    #expect(admission.unauthenticated == 0 && admission.nextDeadline == nil)
    #expect(
      admission.counts
        == Admission.Counts(arrived: 3, authenticated: 1, displaced: 0, expired: 1, left: 1, most: 3))
  }

  @Test("there are never more than 64; a newcomer takes the place of the oldest of the address with most")
  func fairness() throws {
    var admission = Admission()
    let flood = try address("192.0.2.66:1")
    var floods: [Admission.Ticket] = []
    let early = admission.arrived(from: try address("192.0.2.7:1"), at: start)
    for number in 0..<1000 {
      let arrival = admission.arrived(from: flood, at: start + .milliseconds(number))
      floods.append(arrival.ticket)
      // Its own, and its oldest: the one from elsewhere keeps its place.
      #expect(arrival.displaced == (number < 63 ? nil : floods[number - 63]))
    }
    #expect(admission.unauthenticated == 64 && admission.counts.most == 64 && admission.counts.displaced == 937)
    let late = admission.arrived(from: try address("192.0.2.8:1"), at: start + .seconds(1))
    #expect(late.displaced == floods[937])
    #expect(admission.authenticated(early.ticket) && admission.authenticated(late.ticket))
  }

  @Test("who has spoken outlasts those of its address who never do")
  func silentFirst() throws {
    var admission = Admission(limits(4))
    let peer = try address("127.0.0.1:1")
    let client = admission.arrived(from: peer, at: start).ticket
    admission.spoke(client)
    var silent = (0..<3).map { _ in admission.arrived(from: peer, at: start).ticket }
    for _ in 0..<20 {
      let arrival = admission.arrived(from: peer, at: start)
      #expect(arrival.displaced == silent.removeFirst())
      silent.append(arrival.ticket)
    }
    for ticket in silent { admission.spoke(ticket) }
    #expect(admission.arrived(from: peer, at: start).displaced == client)
  }

  @Test("one host's IPv6 addresses count as one, neighbours on the wire as themselves")
  func sources() throws {
    var admission = Admission(limits(3))
    let first = admission.arrived(from: try address("[2001:db8:0:1::1]:1"), at: start).ticket
    _ = admission.arrived(from: try address("[2001:db8:0:1::2]:1"), at: start)
    let other = admission.arrived(from: try address("[2001:db8:0:2::1]:1"), at: start)
    #expect(other.displaced == nil)
    #expect(admission.arrived(from: try address("192.0.2.1:9"), at: start).displaced == first)

    admission = Admission(limits(3))
    let neighbour = admission.arrived(from: try address("[fe80::1%lo]:1"), at: start).ticket
    let busy = admission.arrived(from: try address("[fe80::2%lo]:1"), at: start).ticket
    _ = admission.arrived(from: try address("[fe80::2%lo]:2"), at: start)
    #expect(admission.arrived(from: try address("[fe80::3%lo]:1"), at: start).displaced == busy)
    #expect(admission.authenticated(neighbour) == true)
  }

  @Test("a limit of none still lets one in")
  func smallest() throws {
    var admission = Admission(limits(0))
    let peer = try address("127.0.0.1:1")
    let first = admission.arrived(from: peer, at: start)
    #expect(first.displaced == nil)
    #expect(admission.arrived(from: peer, at: .distantFuture).displaced == first.ticket)
    #expect(admission.unauthenticated == 1)
  }
}
