import MediaEngine
import Testing

/// Expects a `MediaError` of this cause.
func expectCause<Result>(
  _ cause: MediaError.Cause, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Result
) {
  let error = #expect(throws: MediaError.self, sourceLocation: sourceLocation) { _ = try body() }
  #expect(error?.cause == cause, sourceLocation: sourceLocation)
}
