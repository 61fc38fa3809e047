import Glibc
import Platform
import Relay
import Synchronization

/// One log under load. There is one submitting loop per batch in flight.
final class Run: Sendable {
  struct Window {
    var entries = 0
    var seconds = 0.0
    var commits = 0
    /// CPU time of the commit thread, in nanoseconds.
    var commitTime: Int64 = 0
    /// The same for indexing and for checkpoints.
    var indexTime: Int64 = 0
    var checkpointTime: Int64 = 0
    var latencies = Latencies()
  }

  /// The log refused entries, so there is nothing to measure.
  struct RefusedEntries: Error, CustomStringConvertible {
    let description = "The log refused entries; check whether the disk is full, or PostgreSQL runs."
  }

  private struct State {
    var begun: [Int64]
    var latencies = Latencies()
    var commits = 0
    var refused = 0
  }

  private let log: any Log
  private let batch: Int
  private let state: Mutex<State>
  /// The loops that may submit.
  private let free: Mailbox<Int>
  private let waiting = Mutex<[Int]>([])

  init(_ log: any Log, batch: Int, underWay: Int) throws {
    self.log = log
    self.batch = batch
    state = Mutex(State(begun: Array(repeating: 0, count: underWay)))
    free = try Mailbox()
    waiting.withLock { $0 = Array(0..<underWay) }
    let framing = Framing { payloadBytes, frames in
      frames += [0x81, 126, UInt8(payloadBytes >> 8 & 255), UInt8(payloadBytes & 255)]
    }
    try log.start(loops: underWay, framing: framing) { [weak self] loop, delivery in
      self?.take(delivery, loop)
    }
  }

  private func take(_ delivery: LogDelivery, _ loop: Int) {
    guard delivery.completesSubmit else { return }
    let now = Self.now
    state.withLock { state in
      state.latencies.record(nanoseconds: now - state.begun[loop])
      state.commits += 1
      if case .refused? = delivery.answers.first { state.refused += 1 }
    }
    free.post(loop)
  }

  /// Appends `count` entries as fast as the log accepts them, or at this rate.
  func append(
    _ count: Int, from workload: inout Workload, perSecond rate: Int
  ) throws(RefusedEntries) -> Window {
    let before = ThreadTimes()
    let start = Self.now
    state.withLock { state in
      state.latencies = Latencies()
      state.commits = 0
    }
    var sent = 0
    while sent < count {
      let requests = workload.batch(min(batch, count - sent))
      let loop = freeLoop()
      if rate > 0 {
        let due = start + Int64(Double(sent) / Double(rate) * 1e9)
        let wait = due - Self.now
        if wait > 0 { usleep(UInt32(wait / 1000)) }
      }
      state.withLock { $0.begun[loop] = Self.now }
      log.submit(requests, from: loop)
      sent += requests.count
    }
    drain()
    let after = ThreadTimes()
    return try state.withLock { state throws(RefusedEntries) in
      if state.refused > 0 { throw RefusedEntries() }
      return Window(
        entries: sent, seconds: Double(Self.now - start) / 1e9, commits: state.commits,
        commitTime: after.total("log-write") - before.total("log-write"),
        indexTime: after.total("log-index") - before.total("log-index"),
        checkpointTime: after.total("log-checkpoint") - before.total("log-checkpoint"),
        latencies: state.latencies)
    }
  }

  private func freeLoop() -> Int {
    while true {
      if let loop = waiting.withLock({ $0.popLast() }) { return loop }
      _ = free.wait(timeoutMilliseconds: -1)
      waiting.withLock { free.drain(into: &$0) }
    }
  }

  private func drain() {
    let count = state.withLock { $0.begun.count }
    let loops = (0..<count).map { _ in freeLoop() }
    waiting.withLock { $0 = loops }
  }

  static var now: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
