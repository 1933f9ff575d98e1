import LinkProtocol
import LinkTransport
import TestSupport
import Testing
import Units

@Suite("Scripts of links")
struct LinkScriptTests {
  @Test("every step is read, remarks and blanks aside, and written back as it was meant")
  func everyStep() throws {
    let script = try LinkScript(
      """
      # a lift
      seed 7

      0    preset wifi-busy   # nothing special
      \t1.5s rate 600k
      1.5s rate none to-app
      2s latency 20ms jitter 5ms to-glasses
      2s latency 0
      3s stalls every 2s lasting 50ms-300ms
      3s stalls none to-app
      4s hold
      5s hold to-glasses
      6s release to-app\r
      7s cut
      7s refuse
      8s accept
      9s hold-back 0.0004s
      1m clear
      """)
    let both = LinkScript.Way.both
    #expect(script.seed == 7)
    #expect(
      script.steps == [
        .init(at: .zero, .preset(.wifiBusy)),
        .init(at: .milliseconds(1500), .rate(.kilobitsPerSecond(600), both)),
        .init(at: .milliseconds(1500), .rate(nil, .toApp)),
        .init(at: .seconds(2), .latency(.milliseconds(20), jitter: .milliseconds(5), .toGlasses)),
        .init(at: .seconds(2), .latency(.zero, jitter: .zero, both)),
        .init(
          at: .seconds(3), .stalls(.init(every: .seconds(2), lasting: .milliseconds(50)...(.milliseconds(300))), both)),
        .init(at: .seconds(3), .stalls(nil, .toApp)),
        .init(at: .seconds(4), .hold(both)), .init(at: .seconds(5), .hold(.toGlasses)),
        .init(at: .seconds(6), .release(.toApp)), .init(at: .seconds(7), .cut), .init(at: .seconds(7), .refuse),
        .init(at: .seconds(8), .accept), .init(at: .seconds(9), .holdBack(.microseconds(400))),
        .init(at: .seconds(60), .clear),
      ])
    #expect(try LinkScript("\(script)") == script)
    #expect(try LinkScript("").steps.isEmpty)
  }

  @Test(
    "what is no script is refused, with its line",
    arguments: [
      ("0 cut\nsoon cut", 2, LinkScriptError.Cause.time("soon")), ("2s cut\n1s cut", 2, .order),
      ("-1 cut", 1, .time("-1")), ("1e3 cut", 1, .time("1e3")), ("25h cut", 1, .time("25h")),
      ("99999999999999999999s cut", 1, .time("99999999999999999999s")), ("1..5s cut", 1, .time("1..5s")),
      ("3s", 1, .missingStep), ("0 explode", 1, .unknownStep("explode")),
      ("0 preset moon", 1, .unknownPreset("moon")), ("0 preset", 1, .unknownPreset("")),
      ("0 rate", 1, .value("", of: "rate")), ("0 rate 5x", 1, .value("5x", of: "rate")),
      ("0 rate to-app", 1, .value("to-app", of: "rate")), ("0 latency 5ms jitter", 1, .value("", of: "jitter")),
      ("0 stalls every 0 lasting 1s", 1, .value("0", of: "every")),
      ("0 stalls every 2s lasting 3s-1s", 1, .value("3s-1s", of: "lasting")), ("0 cut now", 1, .surplus("now")),
      ("0 hold to-app to-app", 1, .surplus("to-app")), ("0 cut\nseed 1", 2, .seedPlace),
      ("seed 1\nseed 1", 2, .seedPlace), ("seed -1", 1, .value("-1", of: "seed")),
      (String(repeating: "\n", count: LinkScript.mostBytes + 1), 0, .tooLong),
      (String(repeating: "0 cut\n", count: LinkScript.mostSteps + 1), 0, .tooLong),
    ])
  func refused(text: String, line: Int, cause: LinkScriptError.Cause) {
    let error = #expect(throws: LinkScriptError.self) { try LinkScript(text) }
    #expect(error?.line == line && error?.cause == cause, "\(String(describing: error))")
  }

  @Test("steps happen at their times, on every link, and what a script did stays when it is over")
  func carriedOut() throws {
    let clock = ManualTimekeeper()
    let conditioner = LinkConditioner(timekeeper: clock, seed: 1)
    let wire = MemoryLink.makePair(timekeeper: clock)
    let ends = conditioner.join(app: wire.app, glasses: wire.glasses, carrying: .bytes)
    let arrived = Observed<Instant>()
    ends.app.open(
      TransportHandlers(received: { _ in arrived.record(clock.now) }, writable: {}, closed: { _ in }))
    ends.glasses.open(TransportHandlers(received: { _ in }, writable: {}, closed: { _ in }))
    let done = Observed<LinkScript.Action>()
    let begin = clock.now
    let run = LinkScriptRun(
      try LinkScript("1s latency 30ms to-app\n2s hold\n3s release"), on: conditioner, timekeeper: clock
    ) { done.record($0.action) }
    ends.glasses.write([1])
    clock.advance(by: .seconds(1))
    ends.glasses.write([2])
    clock.advance(by: .seconds(1))
    ends.glasses.write([3])
    clock.advance(by: .seconds(2))
    #expect(arrived.values == [begin, begin + .milliseconds(1030), begin + .seconds(3)])
    #expect(done.values.count == 3)
    withExtendedLifetime(run) {}
  }
}
