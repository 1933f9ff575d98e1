/// Walks that once went wrong, cut down to what it takes. Each stays.
enum WalkRegressions {
  static let all: [(why: String, seed: UInt64, steps: [Step])] = [
    (
      "pictures of before a pause were delivered in it, when the pause and its end arrived at once", 305,
      [
        .pair, .hardware(place: 0, .powerOn), .hardware(place: 0, .don), .proceed(.compressed15),
        .proceed(.compressed15), .time(.milliseconds(586)), .proceed(.compressed15), .hardware(place: 0, .tap),
        .fault(place: 0, .hold(.toApp)), .hardware(place: 1, .tap), .proceed(.compressed15), .time(.milliseconds(19)),
        .fault(place: 0, .clear), .time(.milliseconds(286)),
      ]
    )
  ]
}
