import TestSupport
import Testing
import Units

@testable import GlasswingCommand

@Suite("The command line")
struct ArgumentParserTests {
  private func run(_ line: String) throws -> Arguments {
    guard case .run(let arguments) = try ArgumentParser.parse(line.split(separator: " ").map(String.init)) else {
      throw CommandFailure(subject: nil, "asks for help")
    }
    return arguments
  }

  private func failure(_ line: String) -> String {
    do throws(CommandFailure) {
      _ = try ArgumentParser.parse(line.split(separator: " ").map(String.init))
      return "no failure"
    } catch {
      return error.line
    }
  }

  @Test(
    "Values are taken from the next word, behind an equals sign, and glued to a short name",
    arguments: ["-o out.mp4", "-oout.mp4", "-o=out.mp4", "--output out.mp4", "--output=out.mp4"])
  func valueForms(_ form: String) throws {
    #expect(try run("record " + form).text(.output) == "out.mp4")
  }

  @Test("Short flags share a word, and the last of them may have a value")
  func groupedFlags() throws {
    let arguments = try run("record -fqo out.mp4")
    #expect(arguments.has(.force) && arguments.has(.quiet))
    #expect(arguments.text(.output) == "out.mp4")
  }

  @Test("Of an option given twice the last holds; absent ones have the table's default")
  func lastHolds() throws {
    let arguments = try run("record -o a.mp4 --fps 24 --fps 15")
    #expect(arguments.text(.fps) == "15")
    #expect(arguments.text(.resolution) == "medium")
    #expect(arguments.givenText(.resolution) == nil)
    #expect(arguments.duration(.seconds) == nil)
  }

  @Test("A value may begin with a dash, hold spaces and equals signs")
  func oddValues() throws {
    guard case .run(let arguments) = try ArgumentParser.parse(["record", "--output=a=b c.mp4", "--feed", "-x.mp4"])
    else { return }
    #expect(arguments.text(.output) == "a=b c.mp4")
    #expect(arguments.text(.feed) == "-x.mp4")
  }

  @Test("Help is given from anywhere, also beside what is missing")
  func helpAnywhere() throws {
    #expect(try ArgumentParser.parse([]) == .help(nil))
    #expect(try ArgumentParser.parse(["-h"]) == .help(nil))
    #expect(try ArgumentParser.parse(["record", "--fps", "24", "--help"]) == .help(.record))
    #expect(try ArgumentParser.parse(["bench", "-h"]) == .help(.bench))
  }

  @Test("A failure is one line that names the option and the next step")
  func failuresNameTheNextStep() {
    #expect(failure("recrod") == "glasswing: there is no command \"recrod\"; did you mean record?")
    #expect(failure("record --ofps 3") == "glasswing: record: there is no option --ofps; did you mean --fps?")
    #expect(failure("record -z") == "glasswing: record: there is no option -z; see glasswing help record")
    #expect(failure("record") == "glasswing: record: needs --output FILE; see glasswing help record")
    #expect(failure("record -o") == "glasswing: record: --output needs a value: FILE; see glasswing help record")
    #expect(
      failure("record -o x --resolution hihg")
        == "glasswing: record: --resolution: \"hihg\" is none of low, medium, high (did you mean high?); see glasswing "
        + "help record")
    #expect(failure("record -o x --force=1") == "glasswing: record: --force takes no value; see glasswing help record")
    #expect(failure("record -o x y") == "glasswing: record: \"y\" is one word too many; see glasswing help record")
    #expect(failure("bench lat").contains("did you mean latency?"))
    #expect(failure("record -o x --fps 25").contains("did you mean") == false)
  }

  @Test("Text from outside can't break the line")
  func oneLine() {
    let failure = CommandFailure(subject: "a\nb.mp4", "is\r\nbad")
    #expect(failure.line == "glasswing: a b.mp4: is bad")
  }

  @Test("Words that were cut or changed anywhere are an invocation of the table's, or one line of why not")
  func damagedWords() {
    let lines = [
      "record --simulate --seconds 4 -o walk.mp4 --fps=24 -b2.5M -fq", "photo -o a.jpg --format jpeg --help",
      "completions zsh", "bench link --json -- --runs",
    ]
    for line in lines {
      for damaged in DecoderVerifier.damaged(Array(line.utf8)) {
        let words = damaged.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
        do throws(CommandFailure) {
          guard case .run(let arguments) = try ArgumentParser.parse(words) else { continue }
          let spec = OptionTable.spec(arguments.command)
          #expect(arguments.values.keys.allSatisfy(spec.options.contains))
          #expect(spec.required.allSatisfy(arguments.has))
        } catch {
          #expect(!error.line.contains(where: \.isNewline) && error.status == .couldNotStart)
        }
      }
    }
  }

  @Test(
    "Lengths of time have units",
    arguments: [
      ("4", 4000), ("4s", 4000), ("1.5s", 1500), ("500ms", 500), ("2m", 120_000), ("2min", 120_000), ("1h", 3_600_000),
      (".5", 500), ("1.011s", 1011), ("1011ms", 1011),
    ])
  func durations(_ text: String, _ milliseconds: Int) {
    #expect(AmountText.duration(text) == .milliseconds(milliseconds))
  }

  @Test(
    "What is no length of time is refused",
    arguments: ["", "s", "-1", "nan", "1e9", "0x1p3", "4 s", "1..2", "9999999999"])
  func noDurations(_ text: String) {
    #expect(AmountText.duration(text) == nil)
  }

  @Test(
    "Bit rates have units",
    arguments: [("2M", 2_000_000), ("800k", 800_000), ("2.5M", 2_500_000), ("2.3M", 2_300_000), ("64000", 64_000)])
  func bitrates(_ text: String, _ bits: Int64) throws {
    #expect(AmountText.bitrate(text) == .bitsPerSecond(bits))
    #expect(AmountText.bitrate(text + "x") == nil)
    #expect(try run("record -o a.mp4 -b " + text).bitrate(.bitrate) == .bitsPerSecond(bits))
  }

  @Test("A bit rate out of range says what the range is")
  func bitrateRange() {
    #expect(failure("record -o a.mp4 --bitrate 1k").contains("--bitrate: 1k is out of range; it may be 50k to 50M"))
    #expect(failure("record -o a.mp4 --bitrate fast").contains("write it like 800k or 2M"))
  }

  @Test("The nearest name counts changed, missing, added and swapped letters")
  func suggestions() {
    #expect(Suggestion.distance("abcd", "abdc") == 1)
    #expect(Suggestion.distance("abc", "abcd") == 1)
    #expect(Suggestion.distance("", "abc") == 3)
    #expect(Suggestion.nearest(to: "dcotor", among: ["doctor", "demo"]) == "doctor")
    #expect(Suggestion.nearest(to: "xyzzy", among: ["doctor", "demo"]) == nil)
    #expect(Suggestion.nearest(to: "comp", among: ["completions", "demo"]) == "completions")
  }
}
