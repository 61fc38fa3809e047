internal import Synchronization

/// Generates numbers that are unique within the process.
final class NumberSource: Sendable {
  private let last = Atomic(0)

  func next() -> Int { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
