import LinkProtocol

/// What a pair of simulated glasses does wrong, for tests: each is what real glasses were seen to do.
///
/// None by default. A change applies to what happens after it; what runs already goes on as it began.
package struct AgentFaults: Hashable, Sendable {
  package enum PhotoFault: Hashable, Sendable {
    /// A request is never answered, and forgotten.
    case swallow
    /// The answer and the bytes come so much later than they could.
    case delay(Duration)
    /// A request is answered with this.
    case failure(LinkErrorCode)
  }

  /// Every request to start a stream is answered with this.
  package var refusesStart: LinkErrorCode?
  /// Streams are accepted, and no unit of them comes; nor of one that goes on after a pause or begins anew.
  package var sendsNothing = false
  /// Sound is accepted, and no unit of it comes; pictures do.
  package var sendsNoAudio = false
  /// Streams begin without the sound that was asked for.
  package var refusesAudio = false
  /// Nobody's request has an effect, nor has a queue that ran over: sync units come by the interval alone.
  package var ignoresKeyframeRequests = false
  /// Between two sync units that nobody asked for, in streams that begin from now on; nil for the agent's own rule.
  package var keyframeInterval: Duration?
  package var photo: PhotoFault?
  /// Messages are read and nothing comes of them: no answer, no effect. The link itself lives.
  package var ignoresMessages = false

  package init() {}

  /// What a refusal gives as its cause.
  static let text = "the simulation was told to refuse"

}
