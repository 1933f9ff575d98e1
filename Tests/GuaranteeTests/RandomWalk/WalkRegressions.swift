/// Walks that once went wrong, cut down to what it takes. Each stays.
enum WalkRegressions {
  static let all: [(why: String, seed: UInt64, steps: [Step])] = []
}
