import GlassesAgent
import Testing

@testable import GlasswingCommand

@Suite("Words for glasses")
struct GlassesWordsTests {
  @Test("Help on glasses-ctl lists what the glasses understand, each with what comes after it")
  func namesAgree() throws {
    let choices = try #require(OptionTable.spec(.glassesCtl).operand).choices
    #expect(choices.map(\.name) == ControlAction.Name.allCases.map(\.rawValue))
  }

  @Test("Two words make an action; wrong ones are told what is right")
  func actions() throws {
    #expect(try ControlAction("battery", "20") == .battery(20))
    #expect(try ControlAction("battery", "unknown") == .battery(nil))
    #expect(try ControlAction("thermal", "severe") == .thermal(.severe))
    #expect(try ControlAction("power", "off") == .power(false))
    #expect(try ControlAction("pair", nil) == .pair(true))
    #expect(try ControlAction("unpair", "Desk") == .unpair("Desk"))
    for (name, value, words) in [
      ("battery", "101", "battery takes a number from 0 to 100, or unknown, and not \"101\""),
      ("battery", nil, "battery takes a number from 0 to 100, or unknown"),
      ("fold", "now", "fold takes no second word, and \"now\" is one"), ("thermal", "hot", "none, light"),
      ("flod", nil, "\"flod\" is none of status, fold"),
    ] as [(String, String?, String)] {
      let problem = #expect(throws: ControlAction.Problem.self) { try ControlAction(name, value) }
      #expect(problem?.description.contains(words) == true, "\(problem?.description ?? "")")
    }
  }

  @Test("A pairing code is a QR code that fits into 80 columns")
  func qrCode() throws {
    let uri =
      "glasswing://pair?v=1&host=192.168.100.200,10.100.200.100&port=7447&id=gw-73dcd907&name=Glasswing%20D907&pin="
      + String(repeating: "a", count: 52) + "&secret=" + String(repeating: "b", count: 26)
    let lines = try #require(QRCode.lines(uri))
    let widths = Set(lines.map { $0.filter { " █▀▄".contains($0) }.count })
    #expect(widths.count == 1 && (widths.first ?? 0) <= 80, "\(widths)")
    #expect(abs((widths.first ?? 0) - 2 * lines.count) <= 1)
  }
}
