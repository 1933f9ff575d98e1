import LinkProtocol
import Units

// What can be done to a link, and the record of what was.
extension LinkConditioner {
  /// Which way something travels.
  package enum Direction: Hashable, Sendable, CaseIterable {
    /// The way of media.
    case toApp
    case toGlasses
  }

  /// What is written to the ends of a link.
  package enum Content: Hashable, Sendable {
    /// Whole chunks, as `LinkConnection` writes them, on which rules and mutes act.
    case chunks
    /// Anything, such as what was encrypted. Rules and mutes don't act on it.
    case bytes
  }

  /// What a rule counts and acts on.
  package enum Part: Hashable, Sendable {
    /// A message, an access unit, a unit of sound or a photo: all the chunks with one number on one channel. What acts on it acts on
    /// each of its chunks.
    case unit
    case chunk
  }

  package enum Action: Hashable, Sendable {
    case drop
    /// It leaves so much later; others pass it.
    case delay(Duration)
    /// It comes twice: the second time right behind the first, a unit's copy behind its last chunk.
    case duplicate
    /// It passes after so many later ones of its channel (1 changes places with the next). Until they have come it
    /// waits, as long as that takes.
    case reorder(behind: Int)
    /// A bit in every chunk of it is flipped, at a place that the seed decides. Framing and the head of a media unit
    /// stay; so do chunks that carry nothing else. A sample of sound may become any number by it; a unit with one that is
    /// none counts as lost.
    case corrupt
  }

  /// Which ones a rule acts on. They are counted from the moment the rule was applied, each rule for itself, across
  /// links; a unit that had begun to leave by then does not count.
  package enum Which: Hashable, Sendable {
    /// The n-th from now, 0 for the next.
    case next(Int)
    /// From now.
    case range(Range<Int>)
    /// The n-th, the 2n-th and so on: `every(1)` is all; none for 0 and less.
    case every(Int)
    case all
    /// Each with this probability, as the seed decides.
    case random(probability: Double)
  }

  /// What the conditioner did.
  package struct Event: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
      // To one chunk
      case dropped
      /// Vanished with its muted channel.
      case muted
      case delayed(Duration)
      case duplicated
      case reordered(behind: Int)
      /// A bit of a byte of the payload, counted from the payload's begin.
      case corrupted(byte: Int, bit: Int)
      // To a direction
      case limited(Bitrate?)
      case latency(Duration, jitter: Duration)
      case stalls(LinkCondition.Stalls?)
      case condition(LinkCondition)
      case held
      /// So many bytes that were held went on.
      case released(bytes: Int)
      /// The bytes that were under way and are gone; one event for each direction of a link.
      case cut(bytes: Int)
      case cleared
    }

    package var time: Instant
    package var direction: Direction
    package var kind: Kind
    /// For what was done to a chunk.
    package var chunk: Chunk?

    package init(time: Instant, direction: Direction, kind: Kind, chunk: Chunk? = nil) {
      self.time = time
      self.direction = direction
      self.kind = kind
      self.chunk = chunk
    }
  }

  /// Where a chunk belongs.
  package struct Chunk: Hashable, Sendable {
    /// As in the chunk's header; `Channel`'s raw value where this version knows it.
    package var channel: UInt8
    /// The unit's number on its channel.
    package var sequence: UInt32
    package var offset: UInt32
    /// Of its payload.
    package var length: UInt16

    package init(channel: UInt8, sequence: UInt32, offset: UInt32, length: UInt16) {
      self.channel = channel
      self.sequence = sequence
      self.offset = offset
      self.length = length
    }
  }
}
