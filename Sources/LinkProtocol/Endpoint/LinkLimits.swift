import Units

/// Bounds and intervals of one link side, each with where it comes from. Tests shorten them; docs/protocol.md lists the
/// defaults.
package struct LinkLimits: Hashable, Sendable {
  // MARK: Sizes

  /// Payload of the chunks this side sends: 4 KiB, so that at 2 Mbit/s a control message waits for at most 16 ms behind
  /// a chunk of video that has begun. Any length up to 65535 is understood.
  package var chunkPayload = 4096
  /// Longest control unit: a message holds a handful of texts of at most `Text.limit` bytes.
  package var controlUnit = 65_536
  /// Longest audio unit: 120 ms of 192 kHz stereo in 32-bit samples is 184 kB.
  package var audioUnit = 1_048_576
  /// Longest access unit: the biggest IDR measured at 720x1280 was 264 kB.
  package var videoUnit = 8_388_608
  /// Longest photo: 12 megapixels of JPEG at highest quality measured 5.6 MB.
  package var photoUnit = 67_108_864
  /// Units of one channel that may be incomplete or wait for an earlier one.
  package var unitsInAssembly = 16
  /// Pieces of one unit that arrived ahead of a gap in it.
  package var piecesAhead = 256

  // MARK: Queues of the sender

  /// Oldest a waiting video unit may get before the queue drops to the next sync unit (PERF-2).
  package var videoQueueAge: Duration = .milliseconds(500)
  /// And the bytes that may wait, whatever their age.
  package var videoQueueBytes = 16_777_216
  /// Oldest a waiting audio unit may get before it is dropped: sound that is later than this helps nobody.
  package var audioQueueAge: Duration = .milliseconds(500)
  /// And the bytes that may wait: 680 ms of 48 kHz stereo in 32-bit samples.
  package var audioQueueBytes = 262_144
  /// Control messages that may wait; one more closes the link, as none may be dropped.
  package var controlQueueUnits = 1024
  /// Photos that may wait; one more closes the link.
  package var photoQueueUnits = 8

  // MARK: Times

  /// From the transport's opening to the peer's hello.
  package var helloDeadline: Duration = .seconds(5)
  /// Quiet after which the peer is asked for a sign of life, and between two such questions.
  package var pingAfter: Duration = .seconds(1)
  /// Quiet after which the peer counts as silent and what it borrowed is free for others (LIFE-4).
  package var lease: Duration = .seconds(5)
  /// Quiet after which the peer counts as gone and the link closes. An interruption of 10 s leaves no trace but a stall, in
  /// a tunnel or a lift, as long as PUB-2 keeps viewers waiting; beside it the quiet of an idle link before it, a second,
  /// and the way back, another.
  package var silenceDeadline: Duration = .seconds(12)
  /// How long a goodbye may take to leave.
  package var farewellDeadline: Duration = .milliseconds(500)
  /// How long a whole unit waits for an earlier one that is missing, before that one counts as lost.
  package var reorderPatience: Duration = .milliseconds(50)
  /// How long a missing control unit may stay missing before the link closes.
  package var controlPatience: Duration = .seconds(2)
  /// Between two feedbacks of a channel while units arrive on it.
  package var feedbackInterval: Duration = .milliseconds(100)
  /// Clock exchanges right after the hello, and how far apart.
  package var clockBurst = 8
  package var clockBurstInterval: Duration = .milliseconds(20)
  /// Between clock exchanges after that: at 300 ppm the clocks part by 0.3 ms in it.
  package var clockInterval: Duration = .seconds(1)

  /// First unit number of every channel. 0 by the protocol; tests of the wrap-around set it, on both sides.
  package var firstSequence: UInt32 = 0

  package init() {}
}
