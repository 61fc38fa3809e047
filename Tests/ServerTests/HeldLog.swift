import Relay
import Synchronization

/// A log in memory that starts when it is told to: until then its clients wait.
final class HeldLog: Log {
  private struct State {
    var isHeld = true
    var requests: [(requests: [LogRequest], loop: Int)] = []
  }

  private let log = MemoryLog(epoch: "0123456789abcdef", retention: Retention(), clock: { 0 })
  private let state = Mutex(State())

  var epoch: String { log.epoch }

  func start(
    loops: Int, framing: Framing, publish: @escaping @Sendable (Int, LogDelivery) -> Void
  ) {
    log.start(loops: loops, framing: framing, publish: publish)
  }

  func submit(_ requests: [LogRequest], from loop: Int) {
    state.withLock {
      if $0.isHeld {
        $0.requests.append((requests, loop))
      } else {
        log.submit(requests, from: loop)
      }
    }
  }

  func read(_ request: ReadRequest, from loop: Int) { log.read(request, from: loop) }

  /// Processes the requests received so far, and from now on each one immediately.
  func release() {
    state.withLock {
      $0.isHeld = false
      for (requests, loop) in $0.requests { log.submit(requests, from: loop) }
      $0.requests = []
    }
  }

  func stop() { log.stop() }
}
