internal import Synchronization

/// Numbers for names that must differ within the process.
final class NumberSource: Sendable {
  private let last = Atomic(0)

  func next() -> Int { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
