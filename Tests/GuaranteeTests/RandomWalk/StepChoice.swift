import MWDATCamera
import MWDATCore
import Units

/// Draws steps: what apps and wearers do often is drawn often.
struct StepChoice {
  private typealias Maker = @Sendable (inout SeededGenerator) -> Step

  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  /// The steps of one walk. They begin with glasses on a face, as most of what can go wrong needs those.
  static func steps(seed: UInt64, count: Int, choosing kinds: Kinds = .all) -> [Step] {
    var choice = StepChoice(seed: seed)
    let beginning: [Step] = [.pair, .hardware(place: 0, .powerOn), .hardware(place: 0, .don)]
    return beginning + (0..<count).map { _ in choice.next(kinds) }
  }

  /// What a walk may draw besides what apps and wearers do.
  struct Kinds: OptionSet {
    let rawValue: Int
    static let clock = Kinds(rawValue: 1)
    static let faults = Kinds(rawValue: 2)
    static let all: Kinds = [.clock, .faults]
  }

  mutating func next(_ kinds: Kinds) -> Step {
    let table =
      Self.table + (kinds.contains(.clock) ? Self.clock : []) + (kinds.contains(.faults) ? Self.faults : [])
    let total = table.reduce(0) { $0 + $1.weight }
    var rest = Int.random(in: 0..<total, using: &generator)
    for (weight, make) in table {
      if rest < weight { return make(&generator) }
      rest -= weight
    }
    return .configure
  }

  private static let clock: [(weight: Int, make: Maker)] = [
    (45, { .time(.milliseconds(Int.random(in: 0...40, using: &$0))) }),
    (45, { .time(.milliseconds(Int.random(in: 40...600, using: &$0))) }),
    (6, { .time(.milliseconds(Int.random(in: 600...3_000, using: &$0))) }),
    (1, { .time(.milliseconds(Int.random(in: 3_000...12_000, using: &$0))) }),
  ]

  private static let table: [(weight: Int, make: Maker)] = app + wearer

  private static let app: [(weight: Int, make: Maker)] = [
    (90, { .proceed(oneIn(3, &$0) ? any(WalkConfiguration.self, &$0) : oneIn(3, &$0) ? .withAudio : .compressed15) }),
    (18, { .photograph(oneIn(4, &$0) ? .heic : .jpeg) }),
    (14, { _ in .recover }),
    (1, { _ in .configure }),
    (6, { .createSession(place: place(&$0), automatic: oneIn(4, &$0)) }),
    (8, { .startSession(place: place(&$0)) }),
    (5, { .stopSession(place: place(&$0)) }),
    (2, { .releaseSession(place: place(&$0)) }),
    (8, { .addCamera(place: place(&$0), any(WalkConfiguration.self, &$0)) }),
    (4, { .stopCamera(place: place(&$0)) }),
    (2, { .releaseCamera(place: place(&$0)) }),
    (10, { .startStream(place: place(&$0)) }),
    (8, { .stopStream(place: place(&$0)) }),
    (6, { .capturePhoto(place: place(&$0), oneIn(4, &$0) ? .heic : .jpeg) }),
    (4, { .requestKeyframe(place: place(&$0)) }),
    (3, { .startPhoto(place: place(&$0)) }),
    (3, { .stopPhoto(place: place(&$0)) }),
    (6, { .takePhoto(place: place(&$0), .small, any(PhotoQuality.self, &$0)) }),
    (10, { .listen(place: place(&$0), any(WalkPublisher.self, &$0)) }),
    (4, { .cancelToken(place: place(&$0)) }),
    (4, { .releaseToken(place: place(&$0)) }),
    (6, { .beginSequence(place: place(&$0), any(WalkSequence.self, &$0)) }),
    (4, { .abandonSequence(place: place(&$0)) }),
    (3, { .checkPermission(any(Permission.self, &$0)) }),
    (3, { .requestPermission(any(Permission.self, &$0)) }),
    (3, { _ in .startRegistration }),
    (1, { _ in .startUnregistration }),
    (1, { _ in .handleURL }),
    (1, { _ in .openUpdates }),
    (4, { .readEverything(place: place(&$0)) }),
    (2, { .startRecorder(place: place(&$0)) }),
    (2, { .appendSound(place: place(&$0)) }),
    (2, { .finishRecorder(place: place(&$0)) }),
    (1, { .releaseRecorder(place: place(&$0)) }),
  ]

  private static let wearer: [(weight: Int, make: Maker)] = [
    (10, { .hardware(place: place(&$0), .powerOn) }),
    (3, { .hardware(place: place(&$0), .powerOff) }),
    (10, { .hardware(place: place(&$0), .don) }),
    (3, { .hardware(place: place(&$0), .doff) }),
    (3, { .hardware(place: place(&$0), .fold) }),
    (4, { .hardware(place: place(&$0), .unfold) }),
    (8, { .hardware(place: place(&$0), .tap) }),
    (2, { .hardware(place: place(&$0), .tapAndHold) }),
    (3, { .hardware(place: place(&$0), .battery([nil, 0, 2, 3, 5, 50, 100][Int.random(in: 0..<7, using: &$0)])) }),
    (3, { .hardware(place: place(&$0), .charging(oneIn(2, &$0) ? .charging : .notCharging)) }),
    (4, { .hardware(place: place(&$0), .thermal(oneIn(2, &$0) ? .none : thermal(&$0))) }),
    (4, { .feed(place: place(&$0), oneIn(3, &$0) ? any(WalkFeed.self, &$0) : .pattern) }),
    (2, { .image(place: place(&$0), isReadable: oneIn(2, &$0)) }),
    (2, { .failNextCapture(place: place(&$0)) }),
    (6, { .microphone(place: place(&$0), oneIn(4, &$0) ? any(WalkMicrophone.self, &$0) : .unmute) }),
    (3, { .setPermission(any(Permission.self, &$0), oneIn(3, &$0) ? .denied : .granted) }),
    (2, { .setRequestResult(any(Permission.self, &$0), oneIn(3, &$0) ? .denied : .granted) }),
    (1, { _ in .pair }),
    (1, { .unpair(place: place(&$0), waits: oneIn(2, &$0)) }),
    (1, { .enable(isRegistered: !oneIn(4, &$0)) }),
    (1, { .disable(waits: oneIn(2, &$0)) }),
  ]

  private static let faults: [(weight: Int, make: Maker)] = [
    (25, { .fault(place: place(&$0), .any(&$0)) })
  ]

  /// Mostly the newest.
  private static func place(_ generator: inout SeededGenerator) -> Int {
    oneIn(4, &generator) ? Int.random(in: 1...2, using: &generator) : 0
  }

  private static func oneIn(_ count: Int, _ generator: inout SeededGenerator) -> Bool {
    Int.random(in: 0..<count, using: &generator) == 0
  }

  private static func any<Value: CaseIterable>(_: Value.Type, _ generator: inout SeededGenerator) -> Value
  where Value.AllCases == [Value] {
    Value.allCases[Int.random(in: 0..<Value.allCases.count, using: &generator)]
  }

  private static func thermal(_ generator: inout SeededGenerator) -> ThermalLevel {
    let levels: [ThermalLevel] = [.unknown, .light, .moderate, .severe, .critical, .emergency, .shutdown]
    return levels[Int.random(in: 0..<levels.count, using: &generator)]
  }
}
