internal import CLinux
internal import Glibc

/// A queue of work for one thread. Any thread may append; one thread takes all elements at once.
@safe package final class WorkQueue<Element: Sendable>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let filled: UnsafeMutablePointer<pthread_cond_t>
  // Guarded by `mutex`.
  private var elements: [Element] = []
  private var isClosed = false
  /// When the taker got what it works on; `nil` while it waits.
  private var takenAt: Instant?

  package init() {
    unsafe mutex = .allocate(capacity: 1)
    unsafe filled = .allocate(capacity: 1)
    unsafe pthread_mutex_init(mutex, nil)
    // The monotonic clock: if the wall clock is set back, the wait must not become longer.
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(filled, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
  }

  deinit {
    unsafe pthread_cond_destroy(filled)
    unsafe pthread_mutex_destroy(mutex)
    unsafe filled.deallocate()
    unsafe mutex.deallocate()
  }

  /// Adds an element and wakes the taker; drops the element if the queue is closed.
  package func append(_ element: Element) {
    unsafe pthread_mutex_lock(mutex)
    if !isClosed { elements.append(element) }
    unsafe pthread_mutex_unlock(mutex)
    unsafe pthread_cond_signal(filled)
  }

  /// Closes the queue; `takeAll` still returns the remaining elements, and then `nil`.
  package func close() {
    unsafe pthread_mutex_lock(mutex)
    isClosed = true
    unsafe pthread_mutex_unlock(mutex)
    unsafe pthread_cond_signal(filled)
  }

  /// Whether the queue is closed, so that the taker should end.
  package var isEnding: Bool {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return isClosed
  }

  /// How long the taker has worked on what it took last; 0 while it waits for more.
  package var busyNanoseconds: UInt64 {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return takenAt.map { Instant.now().nanoseconds(since: $0) } ?? 0
  }

  /// Waits for elements and returns all of them; `nil` once the queue is closed and empty.
  /// - Parameter timeoutMilliseconds: after this time it returns an empty array; `nil` = no
  ///   timeout.
  package func takeAll(timeoutMilliseconds: Int? = nil) -> [Element]? {
    var end = timespec()
    if let timeoutMilliseconds {
      unsafe clock_gettime(CLOCK_MONOTONIC, &end)
      end.tv_sec += timeoutMilliseconds / 1000
      end.tv_nsec += timeoutMilliseconds % 1000 * 1_000_000
      if end.tv_nsec >= 1_000_000_000 {
        end.tv_sec += 1
        end.tv_nsec -= 1_000_000_000
      }
    }
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    takenAt = nil
    while elements.isEmpty {
      if isClosed { return nil }
      if timeoutMilliseconds == nil {
        unsafe pthread_cond_wait(filled, mutex)
      } else if unsafe pthread_cond_timedwait(filled, mutex, &end) == ETIMEDOUT {
        takenAt = .now()
        return []
      }
    }
    takenAt = .now()
    let taken = elements
    elements = []
    return taken
  }
}
