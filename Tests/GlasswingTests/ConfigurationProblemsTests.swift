import Foundation
import Glasswing
import MWDATCore
import Testing

@Suite("Mistakes in an app's Info.plist")
struct ConfigurationProblemsTests {
  // Exit tests came with Swift 6.2.
  #if compiler(>=6.2)
    @Test("configure() throws the first mistake and every one of them can be read, in words (PERM-3)")
    func all() async {
      await #expect(processExitsWith: .success) {
        struct Wrong: Error {}
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).plist")
        defer { try? FileManager.default.removeItem(at: file) }
        let plist: [String: Any] = [
          "CFBundleIdentifier": "org.example.app", "CFBundleName": "Example", "CFBundleVersion": "1",
          "MWDAT": ["MetaAppID": "17", "AppLinkURLScheme": "not a scheme"],
        ]
        try PropertyListSerialization.data(fromPropertyList: plist, format: .xml, options: 0).write(to: file)
        setenv("GLASSWING_INFO_PLIST", file.path, 1)
        guard Wearables.configurationProblems.isEmpty else { throw Wrong() }
        do throws(WearablesError) {
          try Wearables.configure()
          throw .internalError
        } catch {
          guard error == .missingAppVersion else { throw Wrong() }
        }
        let problems = Wearables.configurationProblems
        guard problems.count == 3, problems[0].contains("CFBundleShortVersionString"),
          problems[1].contains("AppLinkURLScheme"), problems[2].contains("ClientToken")
        else { throw Wrong() }
      }
    }
  #endif
}
