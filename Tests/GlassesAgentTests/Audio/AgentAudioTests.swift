import LinkProtocol
import LinkTransport
import MediaEngine
import TestSupport
import Testing
import Units

@testable import GlassesAgent

/// The sound of streams as an app's end of the link gets it.
@Suite("Sound of a pair of glasses")
struct AgentAudioTests {
  private let time = ManualTimekeeper()
  private let permissions = ListedPermissions(["app"])
  private let session = SessionID(1)
  private let stream = StreamID(5)
  private let low = VideoParameters(codec: .hevc, size: PixelSize(width: 360, height: 640), frameRate: 15)
  private let mono = AudioParameters(codec: .pcmFloat32, sampleRate: 16_000, channels: 1)

  private func makeAgent() -> GlassesAgent {
    let agent = GlassesAgent(
      identity: GlassesIdentity(identifier: "g-1", name: "Test glasses", model: "Model", softwareVersion: "9"),
      timekeeper: time, permissions: permissions,
      configuration: GlassesAgent.Configuration(
        foldEffect: .endsSession, nonces: .seeded(SeededGenerator(seed: 3)), replaysCachedUnits: true))
    agent.hardware.powerOn()
    agent.hardware.don()
    return agent
  }

  private func connect(_ agent: GlassesAgent, app: String = "app", audio: AudioParameters? = nil) -> AppProbe {
    let probe = AppProbe(agent, timekeeper: time, app: app)
    time.settle()
    probe.send(.sessionOpen(SessionOpen(session: session)))
    probe.send(.streamStart(StreamStart(stream: stream, session: session, video: low, audio: audio ?? mono)))
    time.settle()
    return probe
  }

  private func started(_ probe: AppProbe) -> StreamStarted? {
    probe.messages.compactMap { if case .streamStarted(let started) = $0 { started } else { nil } }.first
  }

  private func stopped(_ probe: AppProbe) -> StreamStopped? {
    probe.messages.compactMap { if case .streamStopped(let stopped) = $0 { stopped } else { nil } }.first
  }

  private func changes(_ probe: AppProbe) -> [AudioChanged] {
    probe.messages.compactMap { if case .audioChanged(let changed) = $0 { changed } else { nil } }
  }

  private func samples(_ units: [ReceivedAudio]) -> [Float] { units.flatMap { PCMBytes.samples($0.unit.payload) } }

  @Test(
    "each rate and number of channels is agreed on and sent", arguments: [16_000, 44_100, 48_000] as [UInt32],
    [1, 2] as [UInt8])
  func agreed(rate: UInt32, channels: UInt8) throws {
    let agent = makeAgent()
    let asked = AudioParameters(codec: .pcmFloat32, sampleRate: rate, channels: channels)
    let probe = connect(agent, audio: asked)
    time.advance(by: .milliseconds(1010))
    #expect(started(probe)?.audio == asked)
    #expect(changes(probe) == [AudioChanged(stream: stream, audio: asked, source: .feed)])
    let units = probe.sound
    #expect(units.count == 50)
    #expect(units.allSatisfy { $0.unit.sampleRate == rate && $0.unit.channels == channels && $0.unit.stream == stream })
    // Told before the first of them.
    let told = try #require(probe.events.firstIndex { if case .message(.audioChanged) = $0 { true } else { false } })
    let first = try #require(probe.events.firstIndex { if case .audio = $0 { true } else { false } })
    #expect(told < first)
    // The first sound and the first picture are of one moment.
    #expect(units.first?.unit.captured == probe.units.first?.unit.captured)
    agent.shutDown(.unpaired)
    time.advance(by: .seconds(1))
    #expect(agent.runningAudioCount == 0)
  }

  @Test(
    "sound that the glasses don't have is left out, and the stream begins without",
    arguments: [
      AudioParameters(codec: .pcmFloat32, sampleRate: 8000, channels: 1),
      AudioParameters(codec: .pcmFloat32, sampleRate: 16_000, channels: 3),
      AudioParameters(codec: .opus, sampleRate: 48_000, channels: 1),
    ])
  func unsupported(asked: AudioParameters) {
    let agent = makeAgent()
    let probe = connect(agent, audio: asked)
    time.advance(by: .seconds(1))
    #expect(started(probe) != nil && started(probe)?.audio == nil)
    #expect(probe.sound.isEmpty && !probe.units.isEmpty && changes(probe).isEmpty)
  }

  @Test(
    "without the grant a start with sound is refused as a whole, one without sound is not; granted it begins (PERM-2)")
  func permission() {
    let agent = makeAgent()
    permissions.denyMicrophone = true
    let probe = connect(agent)
    time.advance(by: .seconds(1))
    #expect(stopped(probe)?.reason == .failed(.microphonePermissionDenied))
    #expect(probe.sound.isEmpty && probe.units.isEmpty)
    probe.send(.streamStart(StreamStart(stream: StreamID(6), session: session, video: low)))
    time.advance(by: .seconds(1))
    #expect(started(probe)?.stream == StreamID(6) && !probe.units.isEmpty && probe.sound.isEmpty)
    probe.send(.streamStop(StreamStop(stream: StreamID(6))))
    permissions.denyMicrophone = false
    probe.send(.streamStart(StreamStart(stream: StreamID(7), session: session, video: low, audio: mono)))
    time.advance(by: .seconds(1))
    #expect(!probe.sound.isEmpty)
  }

  @Test("the tail that was captured leaves before the stream is said to be over (AUD-5)")
  func tail() throws {
    let agent = makeAgent()
    let probe = connect(agent)
    time.advance(by: .milliseconds(507))
    let sent = Recorded<Int>()
    agent.observeAudio { sent.add(Int($0.frames)) }
    probe.send(.streamStop(StreamStop(stream: stream)))
    time.settle()
    #expect(samples(probe.sound).count == 8112)
    let last = try #require(probe.events.lastIndex { if case .audio = $0 { true } else { false } })
    let over = try #require(probe.events.firstIndex { if case .message(.streamStopped) = $0 { true } else { false } })
    #expect(last < over)
    time.advance(by: .seconds(1))
    #expect(samples(probe.sound).count == 8112)
  }

  @Test("sound rests and goes on with the pictures, and says that something is missing")
  func pause() throws {
    let agent = makeAgent()
    let probe = connect(agent)
    time.advance(by: .milliseconds(500))
    agent.hardware.tap()
    time.advance(by: .seconds(2))
    let before = probe.sound.count
    #expect(agent.runningAudioCount == 0)
    agent.hardware.tap()
    time.advance(by: .milliseconds(500))
    let after = probe.sound.dropFirst(before)
    #expect(after.count == 25)
    #expect(after.map { $0.unit.flags.contains(.discontinuity) } == [true] + Array(repeating: false, count: 24))
    let gap = try #require(after.first).unit.captured - (try #require(probe.sound.first).unit.captured)
    #expect(gap == .milliseconds(2500))
  }

  @Test("a new feed leaves the sound without a gap: its samples go on, and are the new feed's from its opening on")
  func feed() throws {
    let agent = makeAgent()
    let film = FeedDescription.file(path: try MediaFactory.path(.h264))
    agent.camera.setFeed(film)
    let probe = connect(agent)
    time.advance(by: .milliseconds(510))
    agent.camera.setFeed(.pattern)
    time.advance(by: .milliseconds(490))
    #expect(samples(probe.sound).count == 16_000)
    #expect(!probe.sound.contains { $0.unit.flags.contains(.discontinuity) })
    #expect(samples(probe.sound)[..<8160].allSatisfy { $0 == 0 })
    var pattern: [Float] = []
    PatternAudio(format: PCMFormat(sampleRate: 16_000, channels: 1)).read(from: 0, frames: 7840, into: &pattern)
    #expect(Array(samples(probe.sound)[8160...]) == pattern)
    // A film without sound is silence, and says so (AUD-4).
    #expect(changes(probe).map(\.source) == [.feed, .silence, .feed])
  }

  @Test("mute and source are told before the first unit that they hold for (AUD-4)")
  func announced() throws {
    let agent = makeAgent()
    let probe = connect(agent)
    time.advance(by: .milliseconds(100))
    agent.microphone.setMuted(true)
    time.advance(by: .milliseconds(100))
    agent.microphone.setSource(.tone(frequency: 440, level: -20))
    time.advance(by: .milliseconds(100))
    agent.microphone.setMuted(false)
    time.advance(by: .milliseconds(100))
    let told = changes(probe)
    #expect(told.map(\.isMuted) == [false, true, true, false])
    #expect(told.map(\.source) == [.feed, .feed, .tone, .tone])
    // Each before the unit: five units of each form.
    var form = AudioChanged(stream: stream, audio: mono, source: .unknown)
    var units: [[String]] = []
    for event in probe.events {
      switch event {
      case .message(.audioChanged(let changed)):
        form = changed
        units.append([])
      case .audio(let received):
        #expect(PCMBytes.samples(received.unit.payload).allSatisfy { $0 == 0 } == form.isMuted)
        units[units.count - 1].append("unit")
      default: break
      }
    }
    #expect(units.map(\.count) == [5, 5, 5, 5])
  }

  @Test("a microphone that fails ends the stream with the cause in words; the next one has sound")
  func fails() throws {
    let agent = makeAgent()
    let probe = connect(agent)
    time.advance(by: .milliseconds(100))
    agent.microphone.fail("the cable is torn")
    time.advance(by: .milliseconds(100))
    let end = try #require(stopped(probe))
    #expect(end.reason == .failed(.audioFailed) && end.text == "the cable is torn")
    #expect(agent.runningAudioCount == 0 && agent.runningVideoCount == 0 && agent.sessionCount == 1)
    let before = probe.sound.count
    probe.send(.streamStart(StreamStart(stream: StreamID(6), session: session, video: low, audio: mono)))
    time.advance(by: .milliseconds(100))
    #expect(probe.sound.count == before + 5)
    probe.send(.streamStop(StreamStop(stream: StreamID(6))))
    time.settle()
    probe.send(.streamStart(StreamStart(stream: StreamID(7), session: session, video: low)))
    time.advance(by: .milliseconds(100))
    agent.microphone.fail("again")
    time.advance(by: .seconds(1))
    #expect(agent.runningVideoCount == 1)
  }

  @Test("a file that can't be played ends the stream, by name")
  func badFile() throws {
    let agent = makeAgent()
    agent.microphone.setSource(.file(path: "/nowhere/sound.flac"))
    let probe = connect(agent)
    time.advance(by: .seconds(1))
    #expect(stopped(probe)?.reason == .failed(.audioFailed))
    #expect(try #require(stopped(probe)).text.contains("/nowhere/sound.flac"))
  }

  @Test("glasses can be made to send no sound, or to leave it out")
  func faults() {
    let agent = makeAgent()
    agent.faults.sendsNoAudio = true
    let probe = connect(agent)
    time.advance(by: .seconds(1))
    #expect(started(probe)?.audio == mono && probe.sound.isEmpty && !probe.units.isEmpty)
    probe.send(.streamStop(StreamStop(stream: stream)))
    agent.faults = AgentFaults()
    agent.faults.refusesAudio = true
    probe.send(.streamStart(StreamStart(stream: StreamID(6), session: session, video: low, audio: mono)))
    time.advance(by: .seconds(1))
    let last = probe.messages.compactMap { if case .streamStarted(let started) = $0 { started } else { nil } }.last
    #expect(last?.stream == StreamID(6) && last?.audio == nil && probe.sound.isEmpty)
  }

  @Test("an app that is not heard gets no sound, and when it is heard again the sound goes on with the pictures")
  func silent() {
    let agent = makeAgent()
    let probe = connect(agent)
    time.advance(by: .seconds(1))
    probe.vanish()
    time.advance(by: .seconds(6))
    #expect(agent.runningAudioCount == 0 && agent.runningVideoCount == 0)
    #expect(agent.sessionCount == 1)
  }

  @Test("the same run gives the same sound at the same times")
  func reproducible() {
    func run() -> [LinkEvent] {
      let world = AgentAudioTests()
      let agent = world.makeAgent()
      agent.microphone.clockSkew = 150
      let probe = world.connect(agent)
      world.time.advance(by: .milliseconds(777))
      agent.hardware.tap()
      agent.hardware.tap()
      world.time.advance(by: .milliseconds(777))
      return probe.events
    }
    let first = run()
    #expect(first.count > 60)
    #expect(first == run())
  }
}
