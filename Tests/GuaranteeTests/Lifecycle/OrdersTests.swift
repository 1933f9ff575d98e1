import Foundation
import MWDATCamera
import TestSupport
import Testing

/// Every order of what hands, heat and an app can do, one after the other.
@Suite(.exclusive(.mockKit))
struct OrdersTests {
  /// Where a walk stands when the events come.
  enum Beginning: CaseIterable, Sendable {
    case idle, started, starting, streaming, paused

    fileprivate var steps: [Step] {
      let worn: [Step] = [.pair, .hardware(place: 0, .powerOn), .hardware(place: 0, .don)]
      let session: [Step] = [.createSession(place: 0, automatic: false)]
      let started: [Step] = [.startSession(place: 0), .time(.milliseconds(100)), .addCamera(place: 0, .compressed15)]
      return switch self {
      case .idle: worn + session
      case .started: worn + session + started
      case .starting: worn + session + started + [.startStream(place: 0)]
      case .streaming: worn + session + started + [.startStream(place: 0), .time(.milliseconds(500))]
      case .paused:
        worn + session + started + [
          .startStream(place: 0), .time(.milliseconds(500)), .hardware(place: 0, .tap), .time(.milliseconds(100)),
        ]
      }
    }
  }

  private static let hardware: [Step] = [
    .hardware(place: 0, .powerOn), .hardware(place: 0, .powerOff), .hardware(place: 0, .don),
    .hardware(place: 0, .doff), .hardware(place: 0, .fold), .hardware(place: 0, .unfold), .hardware(place: 0, .tap),
    .hardware(place: 0, .tapAndHold),
  ]
  private static let condition: [Step] = [
    .hardware(place: 0, .battery(4)), .hardware(place: 0, .battery(1)), .hardware(place: 0, .thermal(.severe)),
    .hardware(place: 0, .thermal(.critical)), .feed(place: 0, .missing), .setPermission(.camera, .denied),
    .fault(place: 0, .cut), .unpair(place: 0, waits: false), .disable(waits: false),
  ]
  private static let calls: [Step] = [
    .startSession(place: 0), .stopSession(place: 0), .addCamera(place: 0, .compressed15), .stopCamera(place: 0),
    .startStream(place: 0), .stopStream(place: 0), .capturePhoto(place: 0, .jpeg), .startPhoto(place: 0),
    .stopPhoto(place: 0), .takePhoto(place: 0, .small, .low), .releaseSession(place: 0), .releaseCamera(place: 0),
  ]

  /// Every beginning and gap, as long as that takes; else those where most is under way.
  private static let isFull = ProcessInfo.processInfo.environment["GLASSWING_WALK_FULL"] != nil

  @Test(
    "LIFE-5: any two things in any order keep every rule",
    arguments: isFull ? Beginning.allCases : [.starting, .streaming, .paused])
  func pairs(beginning: Beginning) async throws {
    let events = Self.hardware + Self.condition + Self.calls
    let orders = events.flatMap { first in events.map { [first, $0] } }
    try await walk(from: beginning, orders, between: Self.isFull ? [.zero, .milliseconds(3)] : [.zero])
  }

  @Test(
    "LIFE-5: any three things of hand and app, in any order, keep every rule",
    arguments: isFull ? Beginning.allCases : [.streaming])
  func triples(beginning: Beginning) async throws {
    let hands = Self.hardware.filter { $0 != .hardware(place: 0, .doff) && $0 != .hardware(place: 0, .unfold) }
    let events = hands + Self.calls.prefix(6)
    let orders = events.flatMap { first in events.flatMap { second in events.map { [first, second, $0] } } }
    try await walk(from: beginning, orders, between: [.zero])
  }

  private func walk(from beginning: Beginning, _ orders: [[Step]], between gaps: [Duration]) async throws {
    let media = try WalkMedia.make()
    for (number, order) in orders.enumerated() {
      for gap in gaps {
        // Without a step for the time nothing settles between the two.
        let spaced = gap == .zero ? order : order.flatMap { [$0, .time(gap)] }
        let steps = beginning.steps + spaced + [.time(.milliseconds(300))]
        let wrong = await WalkByHand.run(seed: UInt64(number), steps, media: media)
        #expect(wrong == [], "\(steps)")
      }
    }
  }
}
