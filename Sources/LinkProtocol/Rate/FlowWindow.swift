import Units

extension [VideoFlow] {
  var span: Duration {
    guard let first, let last else { return .zero }
    return last.time - first.time
  }

  /// Sound alone is more than the link carries.
  var isOverrunByAudio: Bool {
    guard let last, last.audioWaitingAge >= RateRules.audioDelay else { return false }
    var steps = 0
    for (before, after) in zip(self, dropFirst()).reversed() {
      guard before.audioWaitingAge < after.audioWaitingAge, before.leftBytes < after.leftBytes else { return false }
      steps += 1
      if steps >= RateRules.audioSteps || last.time - before.time >= RateRules.audioSpan { return true }
    }
    return false
  }

  /// Since when something of the sender's queues always waited, to the last look: what left meanwhile is what the link
  /// carries, whatever it carried before. An index of the first look; the last one's where nothing waits.
  var waitingSince: Int {
    var first = count - 1
    // What waits as long as the step took was in the queue throughout.
    while first > 0, self[first].longestWait >= self[first].time - self[first - 1].time { first -= 1 }
    return Swift.max(first, 0)
  }

  /// Since when the link carries far less than it was believed to: what waits has grown older from then on, while less
  /// left. Nil where that is not so, or can't be told yet; also where the link stands still, which says nothing of what it
  /// carries.
  func brokenSince(_ believed: Bitrate) -> Int? {
    guard let last, let first = lastIndex(where: { last.time - $0.time >= RateRules.breakSpan }),
      first >= waitingSince, last.longestWait - self[first].longestWait >= RateRules.breakDelay
    else { return nil }
    let since = Array(self[first...])
    guard since.count >= 3, zip(since, since.dropFirst()).allSatisfy({ $0.leftBytes < $1.leftBytes }),
      let sent = since.sent, sent < believed.scaled(by: RateRules.breakShare)
    else { return nil }
    return first
  }

  /// What was handed to the transport over the window, sound and pictures.
  var sent: Bitrate? {
    guard let first, let last else { return nil }
    return Bitrate(bytes: last.leftBytes.subtractingSaturating(first.leftBytes), in: last.time - first.time)
  }

  /// What went through over the window, sound and pictures; nil when that can't be told: nothing left, or something in one
  /// of its steps alone, which is how a link that stood still begins to move again.
  ///
  /// What left is counted by chunks and what was acknowledged by whole units, so both err, downwards when a span begins
  /// idle. Where the sender's own queue waits, the transport takes no more than goes through, and the greater is nearer;
  /// where it does not, the transport may swallow more, and only the lesser is sure.
  func delivered(isQueued: Bool) -> Bitrate? {
    guard let first, let last else { return nil }
    let moves = zip(self, dropFirst()).count { $0.leftBytes < $1.leftBytes }
    guard moves >= Swift.min(2, count - 1) else { return nil }
    guard let sent else { return nil }
    // These figures are the peer's: they may say anything.
    let acknowledged = last.acknowledgedBytes.subtractingSaturating(first.acknowledgedBytes)
    guard let begin = first.acknowledged, let end = last.acknowledged, end - begin <= RateRules.longestSpan,
      let pictures = Bitrate(bytes: acknowledged, in: end - begin)
    else { return sent }
    let arrived = pictures + (sound ?? .bitsPerSecond(0))
    return isQueued ? Swift.max(sent, arrived) : Swift.min(sent, arrived)
  }
}

extension [VideoFlow] {
  /// What arrived of the audio channel over the window.
  fileprivate var sound: Bitrate? {
    guard let first, let last, let begin = first.audioAcknowledged, let end = last.audioAcknowledged,
      end - begin <= RateRules.longestSpan
    else { return nil }
    let bytes = last.audioAcknowledgedBytes.subtractingSaturating(first.audioAcknowledgedBytes)
    return Bitrate(bytes: bytes, in: end - begin)
  }
}

extension VideoFlow {
  /// Pictures and sound.
  fileprivate var leftBytes: UInt64 { sentBytes.addingSaturating(audioSentBytes) }
  /// Of the oldest picture or sound in the queues.
  fileprivate var longestWait: Duration { max(waitingAge, audioWaitingAge) }
}
