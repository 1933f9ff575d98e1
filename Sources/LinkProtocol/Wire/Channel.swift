/// The four flows of a link, most urgent first: a chunk of a lower channel leaves only when no higher one waits.
package enum Channel: UInt8, Hashable, Sendable, CaseIterable {
  case control = 0
  case audio = 1
  case video = 2
  case photo = 3
}
