import LinkProtocol
import MWDATCore
import Units

/// `glasswing pair` and `glasswing unpair`: whom this user's companion trusts.
struct PairCommand {
  /// For `--json`.
  struct Result: Codable, Equatable {
    let identifier: String
    let name: String?
    /// Of an unpairing: the glasses know of it as well.
    let told: Bool?
  }

  let arguments: Arguments

  init(_ arguments: Arguments) { self.arguments = arguments }

  func run() async throws(CommandFailure) -> ExitStatus {
    let client = try await CompanionAccess.shared.environment().client
    let operand = arguments.operand ?? ""
    return arguments.command == .pair ? try await pair(operand, client) : try await unpair(operand, client)
  }

  private func pair(_ text: String, _ client: CompanionClient) async throws(CommandFailure) -> ExitStatus {
    let uri = text == "-" ? readLine() ?? "" : text
    guard let answer = await client.answer(to: { .pairGlasses(PairGlasses(number: $0, uri: uri)) }) else { throw gone }
    guard answer.outcome == .done else { throw failure(answer, "pair") }
    try tell(
      Result(identifier: answer.identifier, name: answer.text, told: nil),
      "paired with \(answer.text) (\(answer.identifier))")
    return .done
  }

  private func unpair(_ name: String, _ client: CompanionClient) async throws(CommandFailure) -> ExitStatus {
    let called = client.listings.filter { $0.isCalled(name) }
    guard called.count < 2 else {
      throw CommandFailure(
        subject: name, "several glasses have this name",
        next: "name one of \(called.map(\.identifier).joined(separator: ", "))")
    }
    let identifier = called.first?.identifier ?? name
    // Glasses that are on are told of it, so they get the time to be found.
    await connected(identifier)
    let answer = await client.answer { .unpairGlasses(UnpairGlasses(number: $0, identifier: identifier)) }
    guard let answer else { throw gone }
    switch answer.outcome {
    case .done: try tell(Result(identifier: identifier, name: nil, told: true), "unpaired from \(name)")
    case .doneHere:
      try tell(
        Result(identifier: identifier, name: nil, told: false),
        "unpaired from \(name); the glasses are away and could not be told: there, glasswing glasses-ctl unpair does it"
      )
    case _: throw failure(answer, "unpair")
    }
    return .done
  }

  /// Waits until the glasses are connected, two seconds at most.
  private func connected(_ identifier: String) async {
    guard let device = Wearables.shared.deviceForIdentifier(identifier),
      let timekeeper = Wearables.sharedIfConfigured?.environment.timekeeper
    else { return }
    let gate = ResumeOnce<Void>()
    let token = device.addDeviceStateListener { if $0.linkState == .connected { gate.resume(with: ()) } }
    await gate.value(within: .seconds(2), on: timekeeper, else: ())
    withExtendedLifetime(token) {}
  }

  private var gone: CommandFailure {
    CommandFailure(.cutOff, subject: "companion", "it ended before it had answered", next: "try again")
  }

  private func tell(_ result: Result, _ words: String) throws(CommandFailure) {
    if arguments.has(.json) { try Console.shared.result(JSONResult.text(result)) }
    if !arguments.has(.quiet) { Console.shared.log(words) }
  }

  private func failure(_ answer: CompanionAnswer, _ subject: String) -> CommandFailure {
    let words: String
    let next: String?
    switch answer.outcome {
    case .badURI: (words, next) = (answer.text, nil)
    case .notReachable:
      (words, next) = ("the glasses can't be reached: \(answer.text)", "check their address and this network")
    case .secretRefused: (words, next) = (answer.text, nil)
    case .glassesRefused: (words, next) = ("the glasses refused: \(answer.text)", nil)
    case .full: (words, next) = ("too many glasses are paired", answer.text)
    case .notPaired: (words, next) = ("no such glasses are paired", "see glasswing devices")
    case .failed, .done, .doneHere: (words, next) = (answer.text.isEmpty ? "the companion failed" : answer.text, nil)
    }
    return CommandFailure(subject: answer.identifier.isEmpty ? subject : answer.identifier, words, next: next)
  }
}
