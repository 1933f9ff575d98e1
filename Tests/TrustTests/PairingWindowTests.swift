import Testing
import Units

@testable import Trust

@Suite struct PairingWindowTests {
  private let start = Instant(nanoseconds: 1_000_000_000)

  private func opened(for length: Duration = .seconds(120)) throws -> (PairingWindow, PairingOffer) {
    var window = PairingWindow()
    let offer = try makeOffer()
    window.open(offer, for: length, at: start)
    return (window, offer)
  }

  @Test("A closed window lets nobody try, an open one hands out its secret, and it closes by its time")
  func openAndExpire() throws {
    var closed = PairingWindow()
    #expect(throws: PairingWindow.Refusal.notOpen) { try closed.attempt(from: "10.0.0.1", at: start) }
    #expect(closed.deadline == nil)
    var (window, offer) = try opened()
    #expect(window.deadline == start + .seconds(120))
    let end = start + .seconds(120)
    #expect(try window.attempt(from: "10.0.0.1", at: end - .nanoseconds(1)).offer.secret == offer.secret)
    #expect(window.isOpen(at: end - .nanoseconds(1)) && !window.isOpen(at: end))
    #expect(throws: PairingWindow.Refusal.notOpen) { try window.attempt(from: "10.0.0.1", at: end) }
    #expect(window.deadline == nil)
  }

  @Test("The first success ends it and its secret; a second one that was under way is not paired")
  func firstSuccess() throws {
    var (window, _) = try opened()
    let first = try window.attempt(from: "10.0.0.1", at: start)
    let second = try window.attempt(from: "10.0.0.2", at: start)
    check(window.succeeded(first, at: start))
    check(!window.succeeded(second, at: start))
    check(!window.succeeded(first, at: start))
    #expect(!window.isOpen(at: start))
  }

  @Test("An attempt of an earlier opening, or one that ends too late, is not paired")
  func lateSuccess() throws {
    var (window, offer) = try opened()
    let earlier = try window.attempt(from: "10.0.0.1", at: start)
    window.open(offer, for: .seconds(120), at: start)
    check(!window.succeeded(earlier, at: start))
    let late = try window.attempt(from: "10.0.0.1", at: start)
    check(!window.succeeded(late, at: start + .seconds(120)))
  }

  @Test("Failures cost the address that makes them a growing time, nobody else, and never end the pairing")
  func failures() throws {
    var (window, _) = try opened(for: .seconds(1000))
    var now = start
    var delays: [Int] = []
    for _ in 0..<11 {
      let attempt = try window.attempt(from: "10.0.0.1", at: now)
      window.failed(attempt, at: now)
      do throws(PairingWindow.Refusal) {
        _ = try window.attempt(from: "10.0.0.1", at: now)
        delays.append(0)
      } catch {
        guard case .tooManyFailures(let until) = error else { throw error }
        delays.append(Int((until - now).seconds))
        #expect(throws: error) { try window.attempt(from: "10.0.0.1", at: until - .nanoseconds(1)) }
        now = until
      }
      #expect(throws: Never.self) { try window.attempt(from: "10.0.0.2", at: now) }
    }
    #expect(delays == [0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60])
    let last = try window.attempt(from: "10.0.0.1", at: now)
    check(window.succeeded(last, at: now))
  }

  @Test("One household is one address; an IPv4 address is one in either form")
  func sources() throws {
    #expect(PairingSource("2001:db8:1:2::1") == PairingSource("2001:db8:1:2:ffff::9"))
    #expect(PairingSource("2001:db8:1:2::1") != PairingSource("2001:db8:1:3::1"))
    #expect(PairingSource("::ffff:10.0.0.1") == PairingSource("10.0.0.1"))
    #expect(PairingSource("10.0.0.1") != PairingSource("10.0.0.2"))
    #expect(PairingSource("fe80::1%eth0") == PairingSource("fe80::1%eth1"))
    #expect(PairingSource(String(repeating: "x", count: 1000)) == PairingSource(String(repeating: "x", count: 64)))
  }

  @Test("Failures from ten thousand addresses take bounded memory, and keep nobody else out")
  func manyAddresses() throws {
    var (window, _) = try opened()
    for number in 0..<10_000 {
      let now = start + .milliseconds(number)
      let attempt = try window.attempt(from: "10.0.\(number / 250).\(number % 250)", at: now)
      window.failed(attempt, at: now)
    }
    #expect(window.rememberedAddresses == 256)
    let end = start + .seconds(11)
    let attempt = try window.attempt(from: "192.168.1.1", at: end)
    check(window.succeeded(attempt, at: end))
  }
}
