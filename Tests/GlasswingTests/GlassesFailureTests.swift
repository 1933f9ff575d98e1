import Foundation
import LinkProtocol
import MWDATCore
import Testing

@testable import Glasswing

@Suite("ERR-1, ERR-4: what ended sessions and streams")
struct GlassesFailureTests {
  private static let all: [GlassesFailure] = [
    .heldByOther(retryAfter: .milliseconds(4500)), .reported(cause: "unsupported", text: "a"),
    .endedByGlasses(text: "a"), .silent(text: "a"), .linkLost(text: "a"), .incompatible(text: "a"), .here(text: "a"),
  ]

  @Test("Names and numbers are one to a case, and the sentence is the localised one")
  func identities() {
    #expect(Set(Self.all.map(\.name)).count == Self.all.count)
    #expect(Self.all.map(\.code) == Array(7101...7107), "numbers never change")
    for failure in Self.all {
      #expect(failure.localizedDescription == failure.message)
      #expect("\(failure)".hasPrefix(failure.name.split(separator: ".")[1]), "it prints its case name")
      #expect(failure.severity == .terminal && failure.stage == .session)
    }
  }

  @Test("Each survives being stored as JSON", arguments: all)
  func stored(_ failure: GlassesFailure) throws {
    let data = try JSONEncoder().encode(failure)
    #expect(try JSONDecoder().decode(GlassesFailure.self, from: data) == failure)
  }

  @Test("A camera held by another app says when to try again, and every other cause doesn't (LIFE-4)")
  func retryAfter() {
    let held = GlassesFailure(.reported(.heldByOther, retryAfter: .seconds(4)), text: "another app has the camera")
    #expect(held == .heldByOther(retryAfter: .seconds(4)))
    #expect(held.retryAfter == .seconds(4) && held.advice == .wait)
    #expect(GlassesFailure(.reported(.heldByOther), text: "") == .heldByOther(retryAfter: nil))
    #expect(Self.all.dropFirst().allSatisfy { $0.retryAfter == nil })
  }

  @Test("Every cause of the link has its case", arguments: LinkErrorCode.allCases)
  func codes(code: LinkErrorCode) {
    let failure = GlassesFailure(.reported(code, retryAfter: nil), text: "words")
    if code == .heldByOther {
      #expect(failure == .heldByOther(retryAfter: nil))
    } else {
      #expect(failure == .reported(cause: "\(code)", text: "words"))
      #expect(failure.message.hasSuffix("words"))
    }
  }
}
