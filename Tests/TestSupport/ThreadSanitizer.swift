import Glibc
import Testing

/// Whether the tests run under the thread sanitizer, which makes everything five to fifteen times as slow.
package enum ThreadSanitizer {
  package static let isOn = dlsym(dlopen(nil, RTLD_NOW), "__tsan_init") != nil
}

extension Trait where Self == ConditionTrait {
  /// For a test that counts pictures against the host's clock: under the thread sanitizer it is skipped, and says so.
  package static var needsRealTimeSpeed: Self {
    .disabled(if: ThreadSanitizer.isOn, "the thread sanitizer is too slow for real time")
  }
}
