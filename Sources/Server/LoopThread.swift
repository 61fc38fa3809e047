import EventLoop
import Mailbox
import Synchronization

/// A thread that runs one `ConnectionLoop` from beginning to end.
final class LoopThread: Sendable {
  private let thread: Mutex<WorkerThread?>

  /// Returns when the loop accepts clients.
  init(
    _ index: Int, _ context: ConnectionLoop.Context, _ mailbox: Mailbox<LoopMessage>,
    _ listener: consuming sending Listener
  ) throws(SystemError) {
    let started = try Mailbox<SystemError?>()
    let listener = Handover(listener)
    thread = Mutex(
      try WorkerThread(name: "loop-\(index)") {
        do throws(SystemError) {
          var random = SystemRandomNumberGenerator()
          let loop = try ConnectionLoop(
            index: index, context: context, mailbox: mailbox, seed: random.next())
          if let listener = listener.take() { try loop.listen(listener) }
          started.post(nil)
          loop.loop.run(loop)
        } catch {
          started.post(error)
        }
      })
    _ = started.wait(timeoutMilliseconds: -1)
    var outcome: [SystemError?] = []
    started.drain(into: &outcome)
    if let error = outcome.first ?? nil { throw error }
  }

  func join() {
    let thread = thread.withLock { $0.take() }
    thread?.join()
  }
}
