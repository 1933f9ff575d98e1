/// Text in columns, for terminals.
enum TextLayout {
  /// The width that help is made for.
  static let width = 80

  /// Lines of at most `width` characters; a word longer than that stays whole.
  static func wrap(_ text: String, width: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if line.isEmpty {
        line = String(word)
      } else if line.count + 1 + word.count <= width {
        line += " " + word
      } else {
        lines.append(line)
        line = String(word)
      }
    }
    if !line.isEmpty { lines.append(line) }
    return lines
  }

  /// Two columns: labels, and texts that wrap beside them. A label too long for its column gets a line of its own.
  static func columns(_ rows: [(label: String, text: String)], indent: Int = 2, labelLimit: Int = 26) -> [String] {
    let labelWidth = min(labelLimit, rows.map(\.label.count).max() ?? 0)
    let margin = indent + labelWidth + 2
    var lines: [String] = []
    for row in rows {
      var texts = wrap(row.text, width: width - margin)[...]
      var first = String(repeating: " ", count: indent) + row.label
      if row.label.count <= labelWidth, let text = texts.popFirst() {
        first += String(repeating: " ", count: margin - first.count) + text
      }
      lines.append(first)
      lines += texts.map { String(repeating: " ", count: margin) + $0 }
    }
    return lines
  }
}
