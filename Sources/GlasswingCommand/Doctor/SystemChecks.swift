import Foundation
import Glibc
import LinkProtocol
import LinkTransport
import Units

/// Checks of the machine: its clock, its network stack, its programs. The judgements are functions of what was read.
enum SystemChecks {
  // MARK: Congestion control

  static func congestionControl() -> DoctorCheck {
    let folder = "/proc/sys/net/ipv4/"
    return congestionControl(
      granted: CongestionControl.granted(), available: read(folder + "tcp_available_congestion_control"),
      allowed: read(folder + "tcp_allowed_congestion_control"))
  }

  /// Links to real glasses are TCP; under loss, BBR delivers pictures several times sooner than cubic does. Judged by what a
  /// socket of this user's got that asked for it, as each link does.
  static func congestionControl(granted: String?, available: String?, allowed: String?) -> DoctorCheck {
    let name = "congestion control"
    guard let granted else {
      return DoctorCheck(
        name, .warning, "unknown: no TCP socket can be made", remedy: "Run where a network is, at least loopback.")
    }
    if granted == "bbr" { return DoctorCheck(name, .ok, "links of this user get bbr") }
    let isThere = (available ?? "").split(separator: " ").contains("bbr")
    guard isThere else {
      return DoctorCheck(
        name, .warning, "links of this user get \(granted); bbr is not loaded",
        remedy: "sudo modprobe tcp_bbr, and sudo sysctl -w net.ipv4.tcp_allowed_congestion_control=\"reno cubic bbr\"")
    }
    return DoctorCheck(
      name, .warning, "links of this user get \(granted); bbr is there, but users may not ask for it",
      remedy: "sudo sysctl -w net.ipv4.tcp_allowed_congestion_control=\"\(allowed ?? granted) bbr\"")
  }

  // MARK: Discovery

  static func discovery() -> DoctorCheck { discovery(AvahiDaemon.ask()) }

  static func discovery(_ answer: AvahiDaemon.Answer) -> DoctorCheck {
    let name = "discovery"
    switch answer {
    case .runs(let version): return DoctorCheck(name, .ok, "\(version) runs; glasses are found on the network")
    case .absent(let words):
      return DoctorCheck(
        name, .warning, "no Avahi (\(words)); glasses are reached at their last known addresses only",
        remedy: "sudo apt-get install avahi-daemon, and sudo systemctl start avahi-daemon")
    }
  }

  private static func read(_ path: String) -> String? {
    FileManager.default.contents(atPath: path).map {
      String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
  }

  // MARK: Clock

  /// Measures how late timers are: 20 deadlines of 2 ms.
  static func clock(timekeeper: any Timekeeper) async -> DoctorCheck {
    var resolution = timespec()
    clock_getres(CLOCK_MONOTONIC, &resolution)
    let lane = timekeeper.makeLane("doctor")
    var lateness: [Duration] = []
    for _ in 0..<20 {
      let deadline = timekeeper.now + .milliseconds(2)
      await timekeeper.sleep(until: deadline, on: lane)
      lateness.append(timekeeper.now - deadline)
    }
    lane.end()
    return clock(
      resolution: .nanoseconds(Int64(resolution.tv_sec) * 1_000_000_000 + Int64(resolution.tv_nsec)),
      lateness: lateness)
  }

  /// Frames are stamped and timed by this clock: a step of a millisecond, or timers late by a frame interval, would show.
  static func clock(resolution: Duration, lateness: [Duration]) -> DoctorCheck {
    let name = "clock"
    let late = Spread(lateness)?.p50 ?? 0
    let found =
      "monotonic, step \(ProgressLine.decimal(resolution.milliseconds * 1000, places: 3)) µs, "
      + "timers late by \(ProgressLine.decimal(late, places: 2)) ms (median)"
    if resolution > .milliseconds(1) {
      return DoctorCheck(
        name, .failed, found, remedy: "Use a kernel with high-resolution timers (CONFIG_HIGH_RES_TIMERS).")
    }
    if late > 10 {
      return DoctorCheck(
        name, .warning, found, remedy: "The machine is overloaded or throttled: end other programs, or use more cores.")
    }
    return DoctorCheck(name, .ok, found)
  }

  // MARK: Programs

  /// The folder of PATH that has the program, and the program; nil when none has.
  static func path(of program: String, searching path: String? = ProcessInfo.processInfo.environment["PATH"])
    -> String?
  {
    for folder in (path ?? "").split(separator: ":") {
      let candidate = "\(folder)/\(program)"
      if access(candidate, X_OK) == 0 { return candidate }
    }
    return nil
  }

  static func ffmpeg() -> DoctorCheck {
    guard let path = path(of: "ffmpeg") else {
      return DoctorCheck(
        "ffmpeg program", .warning, "not found; only bench record uses it, to compare with",
        remedy: "sudo apt-get install ffmpeg")
    }
    return DoctorCheck("ffmpeg program", .ok, path)
  }
}
