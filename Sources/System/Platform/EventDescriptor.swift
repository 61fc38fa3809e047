internal import CLinux
internal import Glibc

/// An eventfd(2), which one thread signals to wake another that waits in epoll or poll.
///
/// Any thread may `signal()`; closed when the value is deinitialized.
public struct EventDescriptor: ~Copyable, Sendable {
  /// Readable from a `signal()` until the next `clear()`.
  public let descriptor: Int32

  /// Creates an eventfd, non-blocking and close-on-exec.
  public init() throws(SystemError) {
    descriptor = clinux_event_descriptor()
    if descriptor < 0 { throw SystemError.last("eventfd") }
  }

  deinit { close(descriptor) }

  /// Makes the descriptor readable, and wakes its waiter.
  public func signal() {
    let code = eventfd_write(descriptor, 1)
    // EAGAIN: the counter is full, thus already readable.
    precondition(code == 0 || errno == EAGAIN, "the eventfd was closed elsewhere")
  }

  /// Makes the descriptor unreadable until the next `signal()`.
  public func clear() {
    var count: eventfd_t = 0
    let code = unsafe eventfd_read(descriptor, &count)
    precondition(code == 0 || errno == EAGAIN, "the eventfd was closed elsewhere")
  }

  /// Waits until the descriptor is readable: poll(2), for a thread without an event loop.
  ///
  /// - Parameter timeoutMilliseconds: negative = no timeout.
  /// - Returns: whether it became readable in time.
  public func wait(timeoutMilliseconds: Int32) -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let end = timeoutMilliseconds > 0 ? milliseconds() + Int64(timeoutMilliseconds) : 0
    var left = timeoutMilliseconds
    while true {
      let count = unsafe poll(&request, 1, left)
      if count >= 0 { return count > 0 }
      precondition(errno == EINTR, "poll rejected the eventfd")
      if timeoutMilliseconds > 0 { left = Int32(max(0, end - milliseconds())) }
    }
  }

  private func milliseconds() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
