import LinkProtocol
import Trust

// Who is at the other end of links, and what people are told of it.
extension GlassesAgent {
  /// Hears what may be told to people, on the agent's lane.
  package func observeNews(_ observer: (@Sendable (AgentNews) -> Void)?) {
    state.withLock { $0.newsObserver = observer }
  }

  /// Says goodbye to all that came by a host. Any thread.
  package func part(from host: KeyPin) {
    lane.run { [self] in
      let links = state.withLock { state in
        state.links.filter { state.peers[$0.key]?.host == host }.sorted { $0.key.value < $1.key.value }.map(\.value)
      }
      for link in links {
        link.close(Goodbye(reason: .unpaired, text: "the glasses are not paired with this host any more"))
      }
    }
  }

  /// A companion's link is for control: whoever has the host's key has no use for its glasses' camera.
  func received(_ message: Message, from host: KeyPin, _ key: LinkKey) {
    switch message {
    case .unpair: tell(.unpaired(host: host))
    case .failure: break
    case _: link(key)?.close(Goodbye(reason: .refused, text: "a companion's link is for control"))
    }
  }

  func tell(_ news: AgentNews) { state.withLock { $0.newsObserver }?(news) }

  func tell(_ message: Message, to key: LinkKey) {
    guard let hello = state.withLock({ $0.hellos[key] }) else { return }
    switch message {
    case .streamStarted(let started): tell(.streamStarted(hello, started.video))
    case .streamStopped: tell(.streamStopped(hello))
    case _: break
    }
  }
}
