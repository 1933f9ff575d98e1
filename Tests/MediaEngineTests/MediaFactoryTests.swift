import Foundation
import TestSupport
import Testing

@Suite struct MediaFactoryTests {
  @Test("every kind of test media can be generated", arguments: MediaFactory.Kind.allCases)
  func generates(_ kind: MediaFactory.Kind) throws {
    let path = try MediaFactory.path(kind)
    #expect(FileManager.default.fileExists(atPath: path))
  }
}
