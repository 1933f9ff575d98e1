import LinkProtocol
import Testing
import Units

@testable import Companion

@Suite("Presence of glasses")
struct PresenceMachineTests {
  private let start = Instant(nanoseconds: 1_000_000_000)

  @Test("begins connecting, and follows the link")
  func follows() {
    var machine = PresenceMachine()
    #expect(machine.presence == .connecting)
    machine.reported()
    #expect(machine.presence == .connected)
    machine.silent()
    #expect(machine.presence == .away)
    machine.heardAgain()
    #expect(machine.presence == .connected)
    #expect(machine.nextTry == nil)
  }

  @Test("tries again soon, then ever less often, up to five seconds; glasses that are found are tried at once")
  func backsOff() throws {
    var machine = PresenceMachine()
    machine.reported()
    var now = start
    var pauses: [Duration] = []
    for _ in 0..<7 {
      machine.closed(.away, at: now)
      let next = try #require(machine.nextTry)
      pauses.append(next - now)
      let isEarly = machine.timeout(at: next - .milliseconds(1))
      let isDue = machine.timeout(at: next)
      #expect(!isEarly && isDue)
      now = next
      #expect(machine.nextTry == nil)
    }
    #expect(
      pauses == [
        .milliseconds(250), .milliseconds(500), .seconds(1), .seconds(2), .seconds(4), .seconds(5), .seconds(5),
      ])
    #expect(machine.presence == .away)
    machine.closed(.away, at: now)
    machine.found(at: now)
    #expect(machine.nextTry == now)
  }

  @Test("says so when the link has just broken, and when only people can help")
  func says() {
    var machine = PresenceMachine()
    machine.reported()
    machine.closed(.away, at: start)
    #expect(machine.presence == .connecting)
    machine.closed(.unpaired, at: start)
    #expect(machine.presence == .unpaired)
    #expect(machine.nextTry == start + .seconds(30))
    machine.closed(.incompatible, at: start)
    #expect(machine.presence == .incompatible)
  }
}
