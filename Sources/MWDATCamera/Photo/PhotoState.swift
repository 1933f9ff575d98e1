/// Where standalone photos stand.
public enum PhotoState: Hashable, Sendable {
  case stopped, starting, started, stopping
}
