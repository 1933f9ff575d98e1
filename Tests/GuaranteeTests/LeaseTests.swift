import Glasswing
import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing
import Units

/// Links whose bytes stop and come again, and apps that are gone.
@Suite(.exclusive(.mockKit))
struct LeaseTests {
  // MARK: - Under ten seconds

  @Test(
    "STALL-3: a stream whose link was interrupted for less than 10 s goes on within a second, by itself",
    arguments: [3000, 6000, 9900])
  func goesOn(milliseconds: Int) async throws {
    try await withInterruptedStream { running in
      let before = running.frames.values.count
      running.hold()
      running.clock.advance(by: .milliseconds(1500))
      // Whether the link answers is known a second after the question.
      running.clock.advance(by: .milliseconds(1000))
      #expect(running.watched.stream.state == .waitingForDevice)
      running.clock.advance(by: .milliseconds(milliseconds - 2500))
      #expect(running.watched.states.suffix(1) == [.waitingForDevice])
      // The camera is the app's for five seconds and not longer.
      #expect(running.glasses.agent.runningVideoCount == (milliseconds < 5000 ? 1 : 0))
      #expect(running.glasses.agent.sessionCount == 1)
      running.release()
      running.clock.advance(by: .seconds(1))
      running.expectLive()
      let after = running.frames.values.dropFirst(before)
      if milliseconds > 5000 {
        let first = try #require(after.first { $0.isDiscontinuity })
        #expect(first.isSync)
      }
      // What is missing is marked, what isn't follows in its order.
      var last = try #require(running.frames.values.prefix(before).last?.presentation)
      for frame in after {
        #expect(frame.isDiscontinuity || frame.presentation - last < .milliseconds(60))
        last = frame.presentation
      }
      #expect(running.watched.errors.isEmpty)
      #expect(running.sessionErrors.values.isEmpty && running.sessionStates.values.isEmpty)
      #expect(running.watched.stream.statistics.stalls == 1)
      #expect(running.watched.stream.lastFailure == nil)
      #expect(running.session.state == .started)
    }
  }

  @Test("STALL-3: three interruptions in a row are three stalls of one stream")
  func repeated() async throws {
    try await withInterruptedStream { running in
      for round in 1...3 {
        running.interrupt(for: .seconds(7))
        running.clock.advance(by: .seconds(1))
        running.expectLive()
        #expect(running.watched.stream.statistics.stalls == UInt64(round))
      }
    }
  }

  @Test(
    "LIFE-4: one who took the camera during an interruption keeps it; the first app's stream says so, its session lives"
  )
  func taken() async throws {
    try await withInterruptedStream { running in
      running.hold()
      running.clock.advance(by: .seconds(5))
      let other = OtherApp(at: running.glasses, running.clock)
      other.startStream(1)
      running.clock.advance(by: .seconds(1))
      #expect(other.unitCount > 10)
      running.release()
      running.clock.advance(by: .seconds(1))
      #expect(running.watched.errors == [.internalError])
      #expect(running.watched.stream.state == .stopped)
      guard case .heldByOther(let retryAfter) = running.watched.stream.lastFailure else {
        Issue.record("\(String(describing: running.watched.stream.lastFailure))")
        return
      }
      #expect(try #require(retryAfter) > .seconds(3) && (try #require(retryAfter)) <= .seconds(5))
      #expect(running.session.state == .started && running.sessionErrors.values.isEmpty)
      let taken = other.unitCount
      running.clock.advance(by: .seconds(2))
      #expect(other.unitCount > taken + 20)
      // And gets it back when the other is done.
      other.leave()
      running.clock.advance(by: .milliseconds(100))
      let again = try await startedStream(in: running.session, InterruptedStream.configuration, running.clock)
      #expect(again.stream.state == .streaming)
    }
  }

  @Test("LIFE-4: a camera that was taken and given back during an interruption is the first app's again")
  func givenBack() async throws {
    try await withInterruptedStream { running in
      running.hold()
      running.clock.advance(by: .seconds(5))
      let other = OtherApp(at: running.glasses, running.clock)
      other.startStream(1)
      running.clock.advance(by: .seconds(1))
      other.stopStream(1)
      running.clock.advance(by: .seconds(1))
      running.release()
      running.clock.advance(by: .seconds(1))
      running.expectLive()
      other.leave()
    }
  }

  /// Of a link without pictures something is heard each second, and its silence begins with that.
  @Test("an idle session survives an interruption, and gets its camera after it", arguments: [3000, 6000, 9900])
  func idleSession(milliseconds: Int) async throws {
    try await withInterruptedStream(streaming: false) { running in
      running.clock.advance(by: .seconds(5))
      running.interrupt(for: .milliseconds(milliseconds))
      running.clock.advance(by: .seconds(1))
      #expect(running.session.state == .started && running.sessionErrors.values.isEmpty)
      running.camera.stream.start()
      try await running.reach(.streaming)
    }
  }

  @Test(
    "LIFE-7: a paused stream is still paused after an interruption, and goes on when the wearer says so",
    arguments: [3000, 6000, 9900])
  func pausedStream(milliseconds: Int) async throws {
    try await withInterruptedStream { running in
      running.glasses.services.captouch.tap()
      running.clock.advance(by: .seconds(1))
      #expect(running.watched.stream.state == .paused)
      running.interrupt(for: .milliseconds(milliseconds))
      let before = running.frames.values.count
      running.clock.advance(by: .seconds(60))
      #expect(running.watched.stream.state == .paused && running.session.state == .paused)
      #expect(running.frames.values.count == before && running.glasses.agent.runningVideoCount == 0)
      running.glasses.services.captouch.tap()
      running.clock.advance(by: .seconds(1))
      running.expectLive()
      #expect(running.watched.errors.isEmpty)
    }
  }

  @Test(
    "a stream that starts during an interruption streams within a second of its end", arguments: [3000, 6000, 9000])
  func starting(milliseconds: Int) async throws {
    try await withInterruptedStream(streaming: false) { running in
      running.hold()
      running.camera.stream.start()
      try await running.reach(.starting)
      running.clock.advance(by: .milliseconds(milliseconds))
      #expect(running.camera.stream.state == .starting)
      running.release()
      running.clock.advance(by: .seconds(1))
      running.expectLive()
      #expect(running.watched.errors.isEmpty)
    }
  }

  @Test("LIFE-1: a stop during an interruption takes two seconds; afterwards the glasses are free and it starts again")
  func stopping() async throws {
    try await withInterruptedStream { running in
      running.hold()
      running.camera.stream.stop()
      running.clock.advance(by: .seconds(2))
      #expect(running.camera.stream.state == .stopped)
      running.clock.advance(by: .seconds(4))
      running.release()
      running.clock.advance(by: .milliseconds(100))
      #expect(running.glasses.agent.runningVideoCount == 0)
      #expect(running.watched.errors.isEmpty)
      running.camera.stream.start()
      try await running.reach(.streaming)
    }
  }

  @Test("PHOTO-1: a photo asked for during an interruption comes after it", arguments: [3000, 6000])
  func photoDuring(milliseconds: Int) async throws {
    try await withInterruptedStream { running in
      running.hold()
      #expect(running.watched.stream.capturePhoto(format: .jpeg))
      running.clock.advance(by: .milliseconds(milliseconds))
      running.release()
      running.clock.advance(by: .seconds(1))
      #expect(running.watched.photos.values.count == 1)
      #expect(running.watched.errors.isEmpty)
      running.expectLive()
    }
  }

  @Test(
    "PHOTO-1, PHOTO-2: a photo that the glasses had not taken when the app fell silent fails once, and the next one comes"
  )
  func photoBefore() async throws {
    try await withInterruptedStream { running in
      running.glasses.agent.faults.photo = .delay(.seconds(8))
      #expect(running.watched.stream.capturePhoto(format: .jpeg))
      running.clock.advance(by: .milliseconds(100))
      running.glasses.agent.faults.photo = nil
      running.interrupt(for: .seconds(6))
      running.clock.advance(by: .seconds(1))
      #expect(running.watched.errors == [.photoCaptureFailed])
      #expect(running.watched.photos.values.isEmpty)
      running.expectLive()
      #expect(running.watched.stream.capturePhoto(format: .jpeg))
      running.clock.advance(by: .seconds(5))
      // What the glasses would have said to the first is of no interest any more.
      #expect(running.watched.photos.values.count == 1)
      #expect(running.watched.errors == [.photoCaptureFailed])
    }
  }

  @Test("an interruption in one direction alone is one too", arguments: LinkConditioner.Direction.allCases)
  func halfOpen(direction: LinkConditioner.Direction) async throws {
    try await withInterruptedStream { running in
      running.interrupt(for: .seconds(8), [direction])
      running.clock.advance(by: .seconds(1))
      running.expectLive()
      #expect(running.watched.errors.isEmpty)
      #expect(running.glasses.agent.sessionCount == 1)
    }
  }

  // MARK: - Ten seconds and more

  @Test(
    "STALL-6: within 12 s without a sign of life stream and session end by a typed error each, and the glasses keep nothing",
    arguments: [[LinkConditioner.Direction.toApp, .toGlasses], [.toApp], [.toGlasses]])
  func ends(directions: [LinkConditioner.Direction]) async throws {
    try await withInterruptedStream { running in
      running.hold(directions)
      running.clock.advance(by: .milliseconds(9500))
      #expect(running.watched.errors.isEmpty && running.session.state == .started)
      running.clock.advance(by: .milliseconds(2600))
      #expect(running.watched.errors == [.deviceNotConnected(running.glasses.deviceIdentifier)])
      #expect(Array(running.watched.states.suffix(2)) == [.stopping, .stopped])
      #expect(running.sessionErrors.values.count == 1)
      #expect(running.sessionStates.values == [.stopping, .stopped])
      #expect(running.session.lastFailure != nil && running.watched.stream.lastFailure != nil)
      #expect(running.glasses.agent.sessionCount == 0)
      #expect(running.glasses.agent.runningVideoCount == 0)
      running.release(directions)
      running.clock.advance(by: .seconds(2))
      #expect(running.glasses.agent.linkCount == 0)
      // The place is free: a new session streams.
      let session = try startedSession(with: running.glasses, running.clock)
      let next = try await startedStream(in: session, InterruptedStream.configuration, running.clock)
      #expect(next.stream.state == .streaming)
      session.stop()
    }
  }

  @Test("STALL-6: a start, a paused and an idle session end within 12 s as well", arguments: 0..<3)
  func endsElsewhere(state: Int) async throws {
    try await withInterruptedStream(streaming: state == 1) { running in
      if state == 1 {
        running.glasses.services.captouch.tap()
        running.clock.advance(by: .seconds(1))
      }
      running.hold()
      if state == 0 {
        running.camera.stream.start()
        try await running.reach(.starting)
      }
      running.clock.advance(by: .milliseconds(12_100))
      #expect(running.camera.stream.state == .stopped)
      #expect(running.watched.errors.count == (state == 2 ? 0 : 1))
      #expect(running.session.state == .stopped && running.sessionErrors.values.count == 1)
      #expect(running.glasses.agent.sessionCount == 0)
    }
  }

  // MARK: - Apps that are gone

  @Test(
    "LIFE-4: when the app that has the camera dies, the next one is told when to try again, and then streams, within 6 s"
  )
  func death() async throws {
    try await withInterruptedStream(streaming: false) { running in
      let other = OtherApp(at: running.glasses, running.clock)
      other.startStream(1)
      running.clock.advance(by: .seconds(1))
      #expect(other.unitCount > 10)
      other.vanish()
      let died = running.clock.now
      running.clock.advance(by: .milliseconds(500))
      running.camera.stream.start()
      for _ in 0..<10_000 where running.camera.state != .stopped {
        running.clock.advance(by: .microseconds(100))
        await Task.yield()
      }
      #expect(running.watched.errors == [.internalError])
      let failure = try #require(running.watched.stream.lastFailure)
      let retryAfter = try #require(failure.retryAfter)
      #expect(failure.advice == .wait && retryAfter < .milliseconds(4600))
      running.clock.advance(by: retryAfter)
      let next = try await startedStream(in: running.session, InterruptedStream.configuration, running.clock)
      #expect(next.stream.state == .streaming)
      #expect(running.clock.now - died < .seconds(6))
      running.clock.advance(by: .seconds(8))
      #expect(running.glasses.agent.sessionCount == 1)
    }
  }

  @Test("LIFE-4: a transport that ends frees the camera at once")
  func transportGone() async throws {
    try await withInterruptedStream(streaming: false) { running in
      let other = OtherApp(at: running.glasses, running.clock)
      other.startStream(1)
      running.clock.advance(by: .seconds(1))
      other.breakLink()
      running.clock.settle()
      #expect(running.glasses.agent.sessionCount == 1 && running.glasses.agent.runningVideoCount == 0)
      running.camera.stream.start()
      try await running.reach(.streaming)
      #expect(running.watched.errors.isEmpty)
    }
  }
}
