/// Where a stream stands.
///
/// Each start takes one path through these and ends in exactly one `.stopped`:
/// `.waitingForDevice`, `.starting`, then `.streaming` and `.paused` in turn, then `.stopping`, `.stopped`.
@frozen
public enum StreamState: Hashable, Sendable {
  /// The glasses are being told to stop; ends by itself within 2 s.
  case stopping
  /// At rest. A stream begins here, and can be started again from here.
  case stopped
  /// Permission and connection are being looked at, or the session rests; ends by itself within 30 s.
  case waitingForDevice
  /// The glasses were asked for pictures and none has arrived yet; ends by itself, by default within 10 s.
  case starting
  /// Pictures arrive: the first one was here before this was announced.
  case streaming
  /// The wearer or the glasses paused the session. Pictures go on by themselves, or the stream stops.
  case paused
}
