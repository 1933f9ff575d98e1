/// The word that was probably meant.
enum Suggestion {
  /// The nearest of the names by edit distance, if it is near enough to be a slip of the fingers; the first of equals.
  static func nearest(to word: String, among names: [String]) -> String? {
    // A number is never a slip of another number.
    guard !word.allSatisfy(\.isNumber) else { return nil }
    let limit = max(1, word.count / 3)
    var best: (name: String, distance: Int)?
    for name in names {
      let isStart = word.count >= 2 && name.hasPrefix(word)
      let distance = isStart ? 0 : distance(word, name)
      if distance <= limit, distance < best?.distance ?? .max { best = (name, distance) }
    }
    return best?.name
  }

  /// Insertions, removals, changes and swaps of neighbours (optimal string alignment).
  static func distance(_ a: String, _ b: String) -> Int {
    let a = Array(a)
    let b = Array(b)
    var beforeLast = [Int](repeating: 0, count: b.count + 1)
    var last = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        var cost = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, beforeLast[j - 1] + 1) }
        row.append(cost)
      }
      beforeLast = last
      last = row
    }
    return last[b.count]
  }
}
