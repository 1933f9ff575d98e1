/// Something that tells its listeners what happens.
///
/// Listeners hear what is sent after they subscribed, in order, one call at a time, on a thread of the announcer's;
/// nothing is replayed. Conforming types need not be `Sendable`, though each one of this package is.
public protocol Announcer<T> {
  /// What is told.
  associatedtype T: Sendable

  /// Calls `listener` with everything sent from now on, until the token is cancelled or released.
  ///
  /// Keep the token: releasing the last reference to it ends the subscription.
  func listen(_ listener: @escaping @Sendable (T) -> Void) -> any AnyListenerToken
}
