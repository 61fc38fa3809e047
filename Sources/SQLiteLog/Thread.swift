internal import Glibc

/// A thread of the system (`pthread_t`), to be joined once.
struct Thread: Sendable {
  private let id: pthread_t

  /// Starts a thread with all signals blocked, so that they go to those that wait for them.
  /// - Parameter name: at most 15 bytes, as the kernel keeps it.
  init(name: String, _ body: @escaping @Sendable () -> Void) {
    precondition(name.utf8.count <= 15, "the kernel keeps 15 bytes of a thread's name")
    var id = pthread_t()
    let context = unsafe Unmanaged.passRetained(Start(name: name, body: body)).toOpaque()
    let code = unsafe pthread_create(
      &id, nil,
      { context in
        guard let context = unsafe context else { return nil }
        let start = unsafe Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
        var signals = sigset_t()
        unsafe sigfillset(&signals)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        start.nameThread()
        start.body()
        return nil
      }, context)
    precondition(code == 0, "a thread could not be started: \(DataDirectory.meaning(of: code))")
    self.id = id
  }

  /// Waits for the thread's end (`pthread_join`).
  func join() {
    let code = pthread_join(id, nil)
    precondition(code == 0, "a thread can be joined once, and not by itself")
  }

  private final class Start {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }

    /// As `pthread_setname_np` does for the calling thread. It is for those who look at the process
    /// from outside: that it may fail harms nothing.
    func nameThread() {
      let descriptor = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return }
      var name = name
      name.withUTF8 { _ = unsafe write(descriptor, $0.baseAddress, $0.count) }
      close(descriptor)
    }
  }
}
