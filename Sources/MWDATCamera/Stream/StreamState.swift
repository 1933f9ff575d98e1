/// Where a stream stands.
///
/// Each start takes one path through these and ends in exactly one `.stopped`: `.waitingForDevice`, `.starting`,
/// `.streaming`, then perhaps `.paused` and `.streaming` in turn, then `.stopping`, `.stopped`. A stream whose pictures, or
/// whose sound if it was asked for, stop coming for a second goes back to `.starting`, or to `.waitingForDevice` when the
/// glasses don't answer at all, and is `.streaming` again with the next one.
@frozen
public enum StreamState: Hashable, Sendable {
  /// The glasses are being told to stop; ends by itself within 2 s.
  case stopping
  /// At rest. A stream begins here, and can be started again from here.
  case stopped
  /// Permission and connection are being looked at, the session rests, or the glasses have fallen silent; ends by itself
  /// within 30 s.
  case waitingForDevice
  /// The glasses were asked for pictures and none has arrived yet, or no more, or no more sound; ends by itself, by default within 10 s.
  case starting
  /// Pictures arrive: one was here before this was announced, and the last one is not older than a second. Nor is the last
  /// sound where it was asked for, once this has lasted for a second.
  case streaming
  /// The wearer or the glasses paused the session. Pictures go on by themselves, or the stream stops.
  case paused
}
