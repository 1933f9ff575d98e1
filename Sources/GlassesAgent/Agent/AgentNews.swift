import LinkProtocol
import Trust

/// What whoever runs the agent may tell people.
package enum AgentNews: Sendable {
  case linkOpened(Hello)
  /// A link that was open.
  case linkClosed(Hello, LinkClose)
  /// An app streams, from now on.
  case streamStarted(Hello, VideoParameters)
  case streamStopped(Hello)
  /// A companion parts: its host is to be forgotten.
  case unpaired(host: KeyPin)
}
