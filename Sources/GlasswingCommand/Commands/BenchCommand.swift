import LinkProtocol
import LinkTransport
import Units

/// `glasswing bench`: one measurement, printed for people or scripts.
struct BenchCommand {
  private let arguments: Arguments
  private let timekeeper: any Timekeeper

  init(_ arguments: Arguments, timekeeper: any Timekeeper = SystemTimekeeper.shared) {
    self.arguments = arguments
    self.timekeeper = timekeeper
  }

  func run() async throws(CommandFailure) -> ExitStatus {
    #if DEBUG
      if !arguments.has(.quiet) {
        Console.shared.log("glasswing: bench: this is a debug build; its figures say little")
      }
    #endif
    // The measurements ask between their rounds, and tell what they have.
    Interruption.shared.whenRaised { _ in }
    switch arguments.operand {
    case "allocations": try await show(AllocationBench(arguments, timekeeper).run())
    case "audio": try await show(AudioBench(arguments, timekeeper).run())
    case "first-frame": try await show(FirstFrameBench(arguments, timekeeper).run())
    case "latency": try await show(LatencyBench(arguments, timekeeper).run())
    case "link": try await show(LinkBench(arguments, timekeeper).run())
    case "record": try await show(RecordBench(arguments, timekeeper).run())
    case "sockets": try await show(SocketBench(arguments, timekeeper).run())
    case _: throw CommandFailure(subject: "bench", "needs a measurement", next: "see glasswing help bench")
    }
    return Interruption.shared.signal == nil ? .done : .cutOff
  }

  private func show(_ figures: some BenchFigures) throws(CommandFailure) {
    try Console.shared.result(arguments.has(.json) ? JSONResult.text(figures) : figures.text)
  }
}

/// What a measurement gives.
protocol BenchFigures: Codable, Sendable {
  /// For people.
  var text: String { get }
}

/// What every measurement says of its circumstances.
struct BenchSetting: Codable, Equatable, Sendable {
  let width: Int
  let height: Int
  let framesPerSecond: Int
  let feed: String
  let isOptimized: Bool

  enum CodingKeys: String, CodingKey {
    case width, height, feed
    case framesPerSecond = "fps"
    case isOptimized = "optimized"
  }

  init(_ arguments: Arguments) {
    let configuration = arguments.configuration(.raw)
    let size = configuration.resolution.videoFrameSize
    width = Int(size.width)
    height = Int(size.height)
    framesPerSecond = Int(configuration.frameRate)
    feed = arguments.givenText(.feed) ?? "test pattern"
    #if DEBUG
      isOptimized = false
    #else
      isOptimized = true
    #endif
  }

  var size: PixelSize { PixelSize(width: width, height: height) }

  var text: String { "\(width)x\(height) at \(framesPerSecond) fps, \(feed)\(isOptimized ? "" : ", debug build")" }
}
