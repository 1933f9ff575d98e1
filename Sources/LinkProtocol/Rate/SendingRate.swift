import Units

/// The rate control and the ladder of one stream, together: what the sender knows goes in, what to encode comes out.
package struct SendingRate: Sendable {
  package private(set) var control: RateControl
  package private(set) var ladder: Ladder

  package init(_ ladder: Ladder) {
    self.ladder = ladder
    control = RateControl(start: ladder.rung.bitrate, ceiling: ladder.ceiling)
  }

  package var rung: Ladder.Rung { ladder.rung }
  package var target: Bitrate { control.target }
  /// What the link is known to carry, sound and pictures together; nil while nothing limits what is sent. Pictures that
  /// are fewer or smaller than was asked for are limited, also where nothing limits these.
  package var limit: Bitrate? { control.limit ?? (ladder.isAtTop ? nil : control.carried) }

  /// Call after each unit, and when the queue has run over.
  ///
  /// - Returns: false when no look was due, so that nothing can have changed.
  package mutating func look(_ flow: VideoFlow) -> Bool {
    let overflowed: Bool
    switch control.look(flow) {
    case .early: return false
    case .looked: overflowed = false
    case .overflow: overflowed = true
    }
    if ladder.look(control.estimate, overflowed: overflowed, at: flow.time) != nil {
      control.setCeiling(ladder.ceiling)
    }
    return true
  }
}
