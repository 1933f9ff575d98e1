import LinkProtocol
import MWDATCamera
import MWDATCore
import TestSupport
import Testing
import Units

@Suite("Sound of a stream")
struct AudioTests {
  @Test(
    "Frames have the rate, the channels and the sample format that were asked for, bit for bit (AUD-1)",
    arguments: AudioSampleRate.allCases, [1, 2] as [UInt32])
  func form(rate: AudioSampleRate, channels: UInt32) throws {
    let rig = try CameraRig(sound: rate, channels: channels)
    let frames = Observed<AudioFrame>()
    let token = rig.stream.audioFramePublisher.listen { frames.record($0) }
    rig.startWithAudio()
    rig.run(.seconds(1))
    #expect(
      rig.glasses.streamStarts.map(\.audio) == [
        AudioParameters(codec: .pcmFloat32, sampleRate: UInt32(rate.rawValue), channels: UInt8(channels))
      ])
    #expect(frames.values.count == 50)
    for (number, frame) in frames.values.enumerated() {
      let format = frame.pcmBuffer.format
      #expect(format.sampleRate == Double(rate.rawValue) && format.channelCount == channels)
      #expect(format.commonFormat == .pcmFormatFloat32 && !format.isInterleaved)
      #expect(frame.pcmBuffer.frameLength == AVAudioFrameCount(rate.rawValue / 50))
      #expect(frame.presentationTimeStamp.timescale == 1_000_000_000)
      let samples = try #require(frame.pcmBuffer.floatChannelData)
      for channel in 0..<Int(channels) {
        let expected = Float(number * Int(rate.rawValue) / 50 + 7) + Float(channel) / 2
        #expect(samples[channel][7] == expected)
      }
    }
    withExtendedLifetime(token) {}
  }

  @Test("Frames follow one another by their lengths, on the clock of the pictures, and nothing is marked")
  func times() throws {
    let rig = try CameraRig(sound: .rate44100)
    let heard = HeardAudio(rig.stream)
    rig.startWithAudio()
    let begin = rig.timekeeper.now
    rig.run(.seconds(10))
    #expect(heard.frames.first?.start == begin)
    #expect(heard.frames.faults(rate: 44_100) == [])
    #expect(heard.frames.totalSamples == 441_000)
    #expect(heard.frames.allSatisfy { $0.missing == 0 && !$0.isDiscontinuity })
    let sound = rig.stream.telemetry.sound
    #expect(sound.units == 500 && sound.frames == 500 && sound.samples == 441_000 && sound.missingSamples == 0)
    #expect(try #require(sound.ages.percentile(0.5)) >= .milliseconds(20))
  }

  @Test("What is missing is said by the frame after it, and counted (AUD-2)")
  func missing() throws {
    let rig = try CameraRig(sound: .rate16000)
    let heard = HeardAudio(rig.stream)
    let events = Observed<StreamTelemetryEvent>()
    let token = rig.stream.telemetryPublisher.listen { events.record($0) }
    rig.startWithAudio()
    rig.run(.milliseconds(200))
    rig.timekeeper.advance(by: .milliseconds(20))
    rig.glasses.leaveOutAudio()
    rig.run(.milliseconds(200))
    let frames = heard.frames
    #expect(frames.count == 20)
    #expect(frames.filter(\.isDiscontinuity).map(\.missing) == [320])
    #expect(frames[10].isDiscontinuity && frames[10].first == Float(11 * 320))
    #expect(heard.frames.faults(rate: 16_000) == [])
    #expect(heard.frames.totalSamples == 21 * 320)
    #expect(rig.stream.telemetry.sound.missingSamples == 320)
    let gaps = events.values.compactMap { event -> Int? in
      if case .audioGap(let samples, _) = event.kind { samples } else { nil }
    }
    #expect(gaps == [320])
    withExtendedLifetime(token) {}
  }

  @Test("A unit that can't be used counts as missing, and is told")
  func unusable() throws {
    let rig = try CameraRig(sound: .rate48000)
    let heard = HeardAudio(rig.stream)
    rig.startWithAudio()
    rig.run(.milliseconds(200))
    rig.timekeeper.advance(by: .milliseconds(20))
    var unit = try #require(rig.glasses.nextAudio())
    unit.codec = .opus
    unit.payload = [0x0b, 0xff, 0xff]
    rig.glasses.connection.send(unit)
    rig.run(.milliseconds(200))
    #expect(heard.frames.filter(\.isDiscontinuity).map(\.missing) == [960])
    #expect(heard.frames.totalSamples == 21 * 960)
    #expect(rig.stream.telemetry.sound.undecodable == 1)
    #expect(rig.stream.state == .streaming)
  }

  @Test("Sound that comes before the first picture is heard with it, half a second of it at most")
  func early() throws {
    let rig = try CameraRig(sound: .rate16000)
    let heard = HeardAudio(rig.stream)
    rig.stream.start()
    rig.settle()
    rig.run(.milliseconds(300), pictures: false)
    #expect(rig.stream.state == .starting)
    #expect(heard.frames.isEmpty)
    rig.run(.milliseconds(300))
    #expect(heard.frames.count == 30)
    #expect(heard.frames.first?.first == 0)
    rig.stream.stop()
    rig.settle()

    rig.stream.start()
    rig.settle()
    rig.run(.seconds(1), pictures: false)
    rig.run(.milliseconds(40))
    let frames = heard.frames.dropFirst(30)
    #expect(frames.count == 25)
    #expect(rig.stream.telemetry.sound.listeners == 0)
    #expect(frames.first?.first == Float(27 * 320))
    #expect(frames.first?.isDiscontinuity == false, "nothing of this stream was heard before")
  }

  @Test("A late listener has sound at once, and only its own is missing to it")
  func lateListener() throws {
    let rig = try CameraRig(sound: .rate16000)
    rig.startWithAudio()
    rig.run(.seconds(2))
    #expect(rig.stream.telemetry.sound.units == 100)
    #expect(rig.stream.telemetry.sound.frames == 0, "nobody listened")
    let heard = HeardAudio(rig.stream)
    rig.run(.milliseconds(20))
    #expect(heard.frames.count == 1)
    rig.run(.seconds(1))
    let later = HeardAudio(rig.stream)
    rig.run(.milliseconds(40))
    #expect(later.frames == heard.frames.suffix(2))
    #expect(!later.frames[0].isDiscontinuity)
  }

  @Test("What the glasses send is readable, and told when it changes, before the sound (AUD-4)")
  func status() throws {
    let rig = try CameraRig(sound: .rate16000)
    let events = Observed<StreamTelemetryEvent>()
    let token = rig.stream.telemetryPublisher.listen { events.record($0) }
    #expect(rig.stream.linkAudioStatus == nil)
    rig.startWithAudio()
    let asked = AudioParameters(codec: .pcmFloat32, sampleRate: 16_000, channels: 1)
    #expect(rig.stream.linkAudioStatus == LinkAudioStatus(delivered: asked, onLink: asked))
    let stream = rig.glasses.streamStarts[0].stream
    let opus = AudioParameters(codec: .opus, sampleRate: 48_000, channels: 1)
    rig.glasses.send(.audioChanged(AudioChanged(stream: stream, audio: opus, source: .microphone)))
    rig.settle()
    rig.glasses.send(.audioChanged(AudioChanged(stream: stream, audio: opus, source: .microphone, isMuted: true)))
    rig.glasses.send(.audioChanged(AudioChanged(stream: stream, audio: opus, source: .microphone, isMuted: true)))
    rig.settle()
    let first = LinkAudioStatus(delivered: asked, onLink: opus, source: .microphone)
    let muted = LinkAudioStatus(delivered: asked, onLink: opus, source: .microphone, isMuted: true)
    #expect(rig.stream.linkAudioStatus == muted)
    let changes = events.values.compactMap { event -> LinkAudioStatus? in
      if case .audioChanged(_, let new) = event.kind { new } else { nil }
    }
    #expect(changes == [first, muted])
    withExtendedLifetime(token) {}
  }
}
