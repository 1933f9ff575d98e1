import Units

/// Where the glasses' clock stands against this one.
package struct ClockAlignment: Hashable, Sendable {
  package init() {}
}
