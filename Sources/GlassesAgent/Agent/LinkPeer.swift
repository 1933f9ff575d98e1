import LinkProtocol
import Trust

/// Who is at the other end of a link, as it has proved before the link began.
package enum LinkPeer: Hashable, Sendable {
  /// An app that a paired host vouches for.
  case app(identifier: String, host: KeyPin)
  /// The companion of a paired host.
  case companion(host: KeyPin)

  /// The host by which the peer is here.
  package var host: KeyPin {
    switch self {
    case .app(_, let host), .companion(let host): host
    }
  }

  /// What is wrong with what it says of itself; nil when that agrees with what it has proved.
  func objection(to hello: Hello) -> String? {
    switch (self, hello.role) {
    case (.app(let identifier, _), .app):
      if hello.identifier != identifier { return "an app has to say who its certificate says it is" }
      return hello.purpose == .media ? nil : "apps are served media"
    case (.companion, .companion): return hello.purpose == .control ? nil : "a companion's link is for control"
    case (.app, .companion), (.app, .glasses), (.companion, .app), (.companion, .glasses):
      return "its certificate is of another role"
    }
  }
}

extension LinkPeer {
  /// Nil for a peer that is served no link.
  package init?(_ peer: TLSPeer) {
    switch peer {
    case .app(let identifier, _, let host): self = .app(identifier: identifier, host: host)
    case .companion(let host): self = .companion(host: host)
    case .agent, .pairing: return nil
    }
  }
}
