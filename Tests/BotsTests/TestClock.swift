import Synchronization

/// A clock that stands still until a test moves it.
final class TestClock: Clock {
  struct Instant: InstantProtocol {
    var offset: Duration
    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
  }

  private struct State {
    var now = Instant(offset: .zero)
    var nextID = 0
    var sleepers: [Int: (deadline: Instant, wake: CheckedContinuation<Void, any Error>)] = [:]
    var cancelled: Set<Int> = []
    var whenAsleep: [CheckedContinuation<Void, Never>] = []
  }
  private let state = Mutex(State())

  var now: Instant { state.withLock { $0.now } }
  var minimumResolution: Duration { .nanoseconds(1) }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let id = state.withLock {
      $0.nextID += 1
      return $0.nextID
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { wake in
        let (isOver, watchers) = state.withLock { state in
          if state.cancelled.remove(id) != nil || deadline <= state.now {
            return (true, [CheckedContinuation<Void, Never>]())
          }
          state.sleepers[id] = (deadline, wake)
          defer { state.whenAsleep = [] }
          return (false, state.whenAsleep)
        }
        if isOver { wake.resume() }
        watchers.forEach { $0.resume() }
      }
      try Task.checkCancellation()
    } onCancel: {
      let sleeper = state.withLock { state in
        let sleeper = state.sleepers.removeValue(forKey: id)
        if sleeper == nil { state.cancelled.insert(id) }
        return sleeper
      }
      sleeper?.wake.resume(throwing: CancellationError())
    }
  }

  /// Waits until a task sleeps for a time in `range` from now on, and moves to its end; the
  /// shortest sleep counts.
  @discardableResult
  func advance(
    to range: ClosedRange<Duration> = .zero ... .seconds(1_000_000)
  ) async -> Duration {
    while true {
      let (slept, due) = state.withLock { state in
        let deadlines = state.sleepers.values.map(\.deadline)
        let next = deadlines.filter { range.contains(state.now.duration(to: $0)) }.min()
        guard let next else { return (nil as Duration?, [CheckedContinuation<Void, any Error>]()) }
        let slept = state.now.duration(to: next)
        state.now = next
        let due = state.sleepers.filter { $0.value.deadline <= next }
        for id in due.keys { state.sleepers[id] = nil }
        return (slept, due.values.sorted { $0.deadline < $1.deadline }.map(\.wake))
      }
      due.forEach { $0.resume() }
      if let slept { return slept }
      await withCheckedContinuation { continuation in
        let isThere = state.withLock { state in
          let isThere = state.sleepers.values.contains {
            range.contains(state.now.duration(to: $0.deadline))
          }
          if !isThere { state.whenAsleep.append(continuation) }
          return isThere
        }
        if isThere { continuation.resume() }
      }
    }
  }
}
