import Foundation
import GlassesAgent
import TestSupport
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

  private static let hasReader = (try? CommandLineTool.run("zbarimg", ["--version"])) != nil

  @Test("A stranger reads the code from the terminal's characters", .enabled(if: hasReader, "zbarimg is not installed"))
  func qrCodeRead() throws {
    let uri = "glasswing://pair?v=1&host=192.168.1.20&port=7447&id=lab-3&name=Lab%20glasses"
    // Two rows of modules a line, each module 4x4 pixels.
    var rows: [[UInt8]] = []
    for line in try #require(QRCode.lines(uri)) {
      let marks = line.filter { " █▀▄".contains($0) }
      for isBlack in [{ "█▀".contains($0) }, { "█▄".contains($0) }] as [(Character) -> Bool] {
        let row = marks.flatMap { [UInt8](repeating: isBlack($0) ? 0 : 255, count: 4) }
        rows += [[UInt8]](repeating: row, count: 4)
      }
    }
    let file = FileManager.default.temporaryDirectory.appending(path: "gw-\(UUID().uuidString).pgm")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(Array("P5 \(rows[0].count) \(rows.count) 255\n".utf8) + rows.flatMap { $0 }).write(to: file)
    let read = try CommandLineTool.run("zbarimg", ["--quiet", "--raw", file.path])
    #expect(read.output == uri + "\n")
  }
}
