import Glasswing
import LinkTransport
import Testing
import Units

@testable import GlasswingCommand

@Suite("What people see")
struct OutputTests {
  @Test("The progress line has every figure, and fits a terminal of 80 columns whatever they are")
  func progressLine() {
    var line = ProgressLine(
      elapsed: .milliseconds(4230), frames: 101, framesPerSecond: 23.97, bitsPerSecond: 812_345,
      ageP50: .microseconds(7210), ageP95: .microseconds(12_900), drops: 0)
    #expect(line.text == "0:04.2  101 frames  24.0 fps  812 kbit/s  age 7.2/13 ms  0 dropped")
    line.note = "REC 0:01.0"
    #expect(line.text.hasSuffix("  REC 0:01.0"))
    line.note = ""
    line.level = -21.4
    #expect(line.text == "0:04.2  101 frames  24.0 fps  812 kbit/s  age 7.2/13 ms  0 dropped  -21 dB")
    line.note = "REC 0:01.0"
    #expect(line.text.hasSuffix("0 dropped  REC 0:01.0"), "the level is what is left out")
    line = ProgressLine(
      elapsed: .seconds(123_456), frames: .max, framesPerSecond: 99_999, bitsPerSecond: .max, ageP50: .seconds(60),
      ageP95: .seconds(67), drops: .max, note: "REC 12:34:56.7")
    #expect(line.text.count <= 79)
    #expect(ProgressLine().text == "0:00.0  0 frames  0.0 fps  0 kbit/s  0 dropped")
  }

  @Test("Clocks and decimals are written the same in every locale")
  func numbers() {
    #expect(ProgressLine.clock(.milliseconds(59_960)) == "0:59.9")
    #expect(ProgressLine.clock(.seconds(3725)) == "1:02:05.0")
    #expect(ProgressLine.decimal(0.0049, places: 2) == "0.00")
    #expect(ProgressLine.decimal(-1.25, places: 1) == "-1.3")
    #expect(ProgressLine.decimal(2.995, places: 1) == "3.0")
    #expect(ProgressLine.decimal(.nan, places: 1) == "-")
    #expect(ProgressLine.decimal(12, places: 0) == "12")
  }

  @Test("A spread has the nearest ranks, in milliseconds")
  func spread() throws {
    let spread = try #require(Spread((1...100).map { .milliseconds($0) }.shuffled()))
    #expect(spread.p50 == 50 && spread.p95 == 95 && spread.p99 == 99)
    #expect(spread.least == 1 && spread.most == 100 && spread.count == 100)
    #expect(Spread([]) == nil)
    #expect(Spread([.microseconds(1234)])?.p99 == 1.234)
  }

  @Test("Several runs have the medians of their figures, and the outermost of their extremes")
  func spreadOfRuns() throws {
    let runs = [1, 3, 2, 9].compactMap { step in Spread((1...100).map { .milliseconds($0 * step) }) }
    let spread = try #require(Spread(medianOf: runs))
    #expect(spread.p50 == 125 && spread.p99 == 247.5)
    #expect(spread.least == 1 && spread.most == 900 && spread.count == 400)
    #expect(Spread(medianOf: []) == nil)
    #expect(Spread.median([3, 1, 2]) == 2 && Spread.median([4, 1, 2, 3]) == 2.5 && Spread.median([]) == 0)
  }

  @Test("Paths in the present folder are shown from there, and only those")
  func shownPaths() {
    #expect(ShownPath.shorten("glasswing: /a/b/out.mp4: exists", in: "/a/b") == "glasswing: out.mp4: exists")
    #expect(ShownPath.shorten("/a/b/x.mp4", in: "/a/b") == "x.mp4")
    #expect(ShownPath.shorten("/mnt/a/b/x.mp4 and /a/b/y.mp4", in: "/a/b") == "/mnt/a/b/x.mp4 and y.mp4")
    #expect(ShownPath.shorten("/a/bc/x.mp4", in: "/a/b") == "/a/bc/x.mp4")
    #expect(ShownPath.shorten("/x.mp4", in: "/") == "/x.mp4")
  }
}

@Suite("doctor")
struct DoctorTests {
  @Test("Congestion control is judged by what a socket of this user's gets, with the remedy")
  func congestionControl() {
    let judge = { SystemChecks.congestionControl(granted: $0, available: $1, allowed: $2) }
    #expect(judge("bbr", "reno cubic bbr", "reno cubic").status == .ok)
    let forbidden = judge("cubic", "reno cubic bbr", "reno cubic")
    #expect(forbidden.status == .warning && forbidden.found.contains("cubic"))
    #expect(forbidden.remedy?.contains("tcp_allowed_congestion_control=\"reno cubic bbr\"") == true)
    #expect(judge("cubic", "reno cubic", "reno cubic").remedy?.contains("modprobe tcp_bbr") == true)
    #expect(judge(nil, nil, nil).status == .warning)
    #expect(CongestionControl.granted()?.isEmpty == false)
    var options = StreamOptions()
    options.congestionControl = "reno"
    #expect(CongestionControl.granted(options) == "reno")
  }

  @Test("Discovery is fine with a daemon; without one it warns, and says what starts one")
  func discovery() {
    #expect(SystemChecks.discovery(.runs(version: "avahi 0.8")).status == .ok)
    let absent = SystemChecks.discovery(.absent("Daemon not running"))
    #expect(absent.status == .warning && absent.found.contains("Daemon not running"))
    #expect(absent.remedy?.contains("avahi-daemon") == true)
  }

  @Test("A clock with coarse steps fails, late timers warn")
  func clock() {
    let judge = { SystemChecks.clock(resolution: $0, lateness: [$1]).status }
    #expect(judge(.nanoseconds(1), .microseconds(100)) == .ok)
    #expect(judge(.nanoseconds(1), .milliseconds(30)) == .warning)
    #expect(judge(.milliseconds(4), .microseconds(100)) == .failed)
  }

  @Test("A library of another major version fails, and names the package")
  func libraries() {
    let check = MediaChecks.library(
      .init(name: "libavcodec", package: "libavcodec59", loaded: "60.1.0", built: "59.37.100", isCompatible: false))
    #expect(check.status == .failed)
    #expect(check.found.contains("60.1.0") && check.found.contains("59.37.100"))
    #expect(check.remedy?.contains("libavcodec59") == true)
  }

  @Test("The report is ok unless something failed, and each line fits 80 columns")
  func report() {
    let long = String(repeating: "word ", count: 40)
    let warning = DoctorCheck("companion", .warning, long, remedy: long)
    let report = DoctorReport(version: "1", checks: [DoctorCheck("clock", .ok, "fine"), warning])
    #expect(report.ok)
    #expect(report.text.contains("0 failed, 1 warnings, 1 ok"))
    for line in report.text.split(separator: "\n") { #expect(line.count <= 80) }
    #expect(!DoctorReport(version: "1", checks: [DoctorCheck("clock", .failed, "stopped", remedy: "x")]).ok)
  }
}
