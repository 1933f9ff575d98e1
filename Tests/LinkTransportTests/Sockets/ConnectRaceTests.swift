import Glibc
import Testing
import Units

@testable import LinkTransport

@Suite("Connecting to one of several addresses")
struct ConnectRaceTests {
  private let start = Instant(nanoseconds: 1_000_000_000)
  private let refused = SocketFailure.system("connect", subject: "", code: ECONNREFUSED)

  private func race() -> ConnectRace { ConnectRace(openedAt: start, limit: .seconds(5)) }

  @Test("begins the next when one fails or has had its head start, and ends with the first that is up")
  func order() {
    var race = race()
    #expect(race.resolved(["A", "B", "C"], at: start) == [.begin(0)])
    #expect(race.nextDeadline == start + .milliseconds(250))
    #expect(race.timeout(at: start + .milliseconds(249)).isEmpty)
    #expect(race.timeout(at: start + .milliseconds(250)) == [.begin(1)])
    #expect(race.failed(1, refused, at: start + .milliseconds(300)) == [.begin(2)])
    #expect(race.nextDeadline == start + .seconds(5))
    #expect(race.failed(1, refused, at: start + .milliseconds(300)).isEmpty)
    #expect(race.connected(1).isEmpty)
    #expect(race.connected(0) == [.won(0)])
    #expect(race.nextDeadline == nil)
    #expect(race.connected(2).isEmpty && race.timeout(at: start + .seconds(9)).isEmpty)
  }

  @Test("names each address and its cause when none is up")
  func allFail() {
    var race = race()
    #expect(race.resolved(["A", "B"], at: start) == [.begin(0)])
    #expect(race.timeout(at: start + .milliseconds(250)) == [.begin(1)])
    #expect(race.failed(1, refused, at: start + .milliseconds(260)).isEmpty)
    let failures = [ConnectFailure(address: "B", cause: refused), ConnectFailure(address: "A", cause: refused)]
    #expect(race.failed(0, refused, at: start + .milliseconds(270)) == [.lost(.unreachable(failures))])
  }

  @Test("ends at the deadline, whatever is under way")
  func deadline() {
    var race = race()
    #expect(race.resolved(["A", "B", "C"], at: start + .milliseconds(4600)) == [.begin(0)])
    #expect(race.failed(0, refused, at: start + .milliseconds(4700)) == [.begin(1)])
    #expect(race.timeout(at: start + .milliseconds(4950)) == [.begin(2)])
    let silent = SocketFailure.timedOut(after: .seconds(5))
    #expect(
      race.timeout(at: start + .seconds(5)) == [
        .lost(
          .unreachable([
            ConnectFailure(address: "A", cause: refused), ConnectFailure(address: "B", cause: silent),
            ConnectFailure(address: "C", cause: silent),
          ]))
      ])
  }

  @Test("ends without an address, and when the name is not answered")
  func resolver() {
    var race = race()
    #expect(race.resolved([], at: start) == [.lost(.noAddress)])
    race = self.race()
    #expect(race.notResolved(.unknownHost("x", text: "y")) == [.lost(.unknownHost("x", text: "y"))])
    race = self.race()
    #expect(race.nextDeadline == start + .seconds(5))
    #expect(race.timeout(at: start + .seconds(5)) == [.lost(.timedOut(after: .seconds(5)))])
    #expect(race.resolved(["A"], at: start + .seconds(6)).isEmpty)
  }

  @Test("failures read as the system says them")
  func texts() {
    let failure = SocketFailure.unreachable([
      ConnectFailure(
        address: "192.0.2.1:7000", cause: .system("connect", subject: "192.0.2.1:7000", code: ECONNREFUSED)),
      ConnectFailure(address: "[2001:db8::1]:7000", cause: .timedOut(after: .milliseconds(1500))),
    ])
    #expect(
      "\(failure)" == "connect 192.0.2.1:7000: Connection refused; [2001:db8::1]:7000: no answer within 1.5 s")
    #expect("\(SocketFailure.timedOut(after: .seconds(5)))" == "no answer within 5 s")
  }
}
