import Units

/// The constants by which the sender follows its link, in one place, each with where it comes from. Chosen on the memory
/// link with a capped rate; to be checked against measurements over real networks.
package enum RateRules {
  // MARK: When and what is looked at

  /// Between two looks, at least. Two pictures at 30 a second: the encoder follows a new rate within a picture or two,
  /// and feedback comes each 100 ms.
  static let lookInterval: Duration = .milliseconds(50)
  /// What is looked back on: three feedbacks, so that one late arrival is not taken for a queue.
  static let window: Duration = .milliseconds(300)
  /// Between two arrivals, for their rate to speak of the window: the window, two feedbacks, and a large unit.
  static let longestSpan: Duration = .milliseconds(700)
  /// Looks that the window may hold, whatever its length: twice as many as come in it.
  static let looksInWindow = 16
  /// A pause between looks after which the window says nothing about the present; the slowest stream has two pictures a
  /// second.
  static let staleAfter: Duration = .seconds(1)

  // MARK: The rate

  /// A delay that was never shorter throughout the window, above which the link counts as overrun. The figure that
  /// LEDBAT settled on (RFC 6817, 2.5). A sync unit alone delays what follows by up to 350 ms, but not throughout.
  static let standingDelay: Duration = .milliseconds(100)
  /// The link counts as broken where something waited all the time for so long, in which it grew older by so much and less
  /// than this part of what the link was believed to carry left. At 330 kbit/s that is the time of two chunks. A sync unit
  /// makes what follows wait too, but leaves at the rate that is believed.
  static let breakSpan: Duration = .milliseconds(200)
  static let breakDelay: Duration = .milliseconds(50)
  static let breakShare = 0.75
  /// Sound leaves first, so it waits only when the link stands still or carries less than the sound alone. Where it waits
  /// longer from look to look while bytes leave, for so many steps between looks or so long, up to so much, it is the
  /// latter. (A link that stood still for a moment has a step in which nothing left.)
  static let audioSteps = 3
  static let audioSpan: Duration = .milliseconds(250)
  static let audioDelay: Duration = .milliseconds(80)
  /// Below this the rate may grow; between the two it stays.
  static let calmDelay: Duration = .milliseconds(50)
  /// Above this the encoder is held below the estimate until the queue has drained.
  static let drainDelay: Duration = .milliseconds(200)
  /// How far below, as a part of the estimate.
  static let drainShare = 0.8
  /// The same while what waits is of before a break.
  static let brokenShare = 0.5
  /// What is kept of the delivered rate when the link is overrun, so that what waits drains: the value of Google's
  /// congestion control (draft-ietf-rmcat-gcc-02, 5.5).
  static let decreaseShare = 0.85
  /// Between two decreases, at least: the first one's effect takes a feedback to be seen.
  static let decreaseInterval: Duration = .milliseconds(200)
  /// Decreases after which a delay that has not fallen, with nothing waiting here, is the way's own.
  static let fruitlessDecreases = 3
  /// Growth of the estimate as a part of it each second: at first careful, doubled with each `probeDoubling` of calm, up
  /// to a bound. From a third of a link's rate to all of it in about 6 s.
  static let probeGrowth = 0.05
  static let probeDoubling = 2.0
  static let largestGrowth = 0.5
  /// Up to this part of what the link carried before the last decrease the estimate grows at the largest rate, once the
  /// link has been calm for `recoveryAfter`: most narrow moments pass.
  static let recoveryShare = 0.9
  static let recoveryAfter: Duration = .seconds(1)
  /// Each time that was too soon, as much longer a calm is waited for, up to a bound; for so long after the decrease.
  static let latestRecovery: Duration = .seconds(3)
  static let recoveryMemory: Duration = .seconds(15)
  /// Below, not even two pictures a second of the smallest size are pictures.
  package static let floor = Bitrate.kilobitsPerSecond(30)

  // MARK: The ladder

  /// The part of a rung's bit rate below which its pictures are blocks, and the next smaller size shows more: SSIM at
  /// 504x896 falls from 0.93 at 1500 kbit/s to 0.84 at 600.
  static let leastShare = 0.5
  /// The part of it at which a rung is tried again. The gap between the two is what keeps a rate near a rung from
  /// stepping to and fro: more than the estimate moves by itself (15 %).
  static let enoughShare = 0.65
  /// How long the estimate must be too low before a step down: longer than a narrow moment takes to pass. An overflow
  /// ends the wait, since it costs a sync unit anyway.
  static let patience: Duration = .milliseconds(1500)
  /// The same where it is no lower than a decrease makes it of what suffices: it may pass, and pictures are what they were.
  static let longPatience: Duration = .seconds(8)
  /// How long it must be enough before a step up, at first.
  static let firstCalm: Duration = .seconds(5)
  /// A step up that a step down follows within this time has failed.
  static let trial: Duration = .seconds(10)
  /// What the calm time is multiplied with at each failure, and its bound.
  static let calmGrowth = 3
  static let longestCalm: Duration = .seconds(60)
  /// The slowest rate that counts as movement. Slower rungs are for links that don't even carry this one: pictures twice a
  /// second are more than a stream that stalls from one overflow to the next.
  package static let slowestMovement: UInt8 = 15
  /// Least that the smallest size is worth sending at, at 15 pictures a second and at less: the encoder makes pictures of
  /// blocks, and a sync unit takes half a second.
  package static let leastOfMovement = Bitrate.kilobitsPerSecond(80)
  package static let leastOfSlower = Bitrate.kilobitsPerSecond(50)
}
