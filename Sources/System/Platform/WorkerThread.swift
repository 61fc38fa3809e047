internal import CLinux
internal import Glibc
internal import Synchronization

/// A named thread that runs one function and is joined once.
///
/// For work that must not share a thread: event loops, the log's writer.
public final class WorkerThread: Sendable {
  private let thread: pthread_t
  private let isJoined = Atomic(false)

  private final class Start: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  /// Starts `body` on a new thread.
  ///
  /// - Parameter name: top and gdb show at most 15 bytes of it.
  public init(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
    let start = unsafe Unmanaged.passRetained(Start(name: name, body: body))
    var created = pthread_t()
    let code = unsafe pthread_create(
      &created, nil,
      { argument in
        // Never nil: it is the pointer passed below.
        guard let argument = unsafe argument else { return nil }
        let start = unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
        _ = unsafe clinux_name_this_thread(start.name)
        start.body()
        return nil
      }, start.toOpaque())
    guard code == 0 else {
      unsafe start.release()
      throw SystemError("pthread_create \(name)", code: code)
    }
    thread = created
  }

  /// Waits until the thread's function has returned. Must be called at most once, and not on that
  /// thread.
  public func join() {
    let isFirst = !isJoined.exchange(true, ordering: .relaxed)
    precondition(isFirst, "the thread has already been joined")
    let code = pthread_join(thread, nil)
    precondition(code == 0, "a thread cannot join itself")
  }

  deinit {
    // Never joined, so the system may release it when it ends.
    if !isJoined.load(ordering: .relaxed) { pthread_detach(thread) }
  }
}
