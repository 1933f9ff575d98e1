import GlassesAgent
import LinkProtocol
import LinkTransport
import Units

/// What goes wrong between app and glasses, or in the glasses.
enum WalkFault: Hashable, Sendable {
  case rule(LinkConditioner.Action, LinkConditioner.Part, LinkConditioner.Which, Channel, LinkConditioner.Direction)
  case mute(Channel, LinkConditioner.Direction)
  case unmute(Channel, LinkConditioner.Direction)
  /// Nil for no cap.
  case limit(kilobits: Int?, LinkConditioner.Direction)
  case latency(milliseconds: Int, jitter: Int, LinkConditioner.Direction)
  case hold(LinkConditioner.Direction)
  case release(LinkConditioner.Direction)
  case cut
  case clear
  case refusesStart(LinkErrorCode)
  case sendsNothing
  case ignoresKeyframeRequests
  case keyframeInterval(seconds: Int)
  case photo(AgentFaults.PhotoFault)
  case ignoresMessages
  /// The glasses do as they should again.
  case healthy
}

extension World {
  func fault(_ place: Int, _ fault: WalkFault) {
    guard let glasses = pick(place, \.glasses) else { return }
    let link = glasses.link
    switch fault {
    case .rule(let action, let part, let which, let channel, let direction):
      link.apply(action, to: part, which, on: channel, direction)
    case .mute(let channel, let direction): link.mute(channel, direction)
    case .unmute(let channel, let direction): link.unmute(channel, direction)
    case .limit(let kilobits, let direction):
      link.limit(kilobits.map { Bitrate(bitsPerSecond: Int64($0) * 1000) }, direction)
    case .latency(let milliseconds, let jitter, let direction):
      link.setLatency(.milliseconds(milliseconds), jitter: .milliseconds(jitter), direction)
    case .hold(let direction): link.hold(direction)
    case .release(let direction): link.release(direction)
    case .cut: link.cut()
    case .clear: link.clear()
    case .refusesStart(let code): glasses.agent.faults.refusesStart = code
    case .sendsNothing: glasses.agent.faults.sendsNothing = true
    case .ignoresKeyframeRequests: glasses.agent.faults.ignoresKeyframeRequests = true
    case .keyframeInterval(let seconds): glasses.agent.faults.keyframeInterval = .seconds(seconds)
    case .photo(let photo): glasses.agent.faults.photo = photo
    case .ignoresMessages: glasses.agent.faults.ignoresMessages = true
    case .healthy: glasses.agent.faults = AgentFaults()
    }
  }
}
