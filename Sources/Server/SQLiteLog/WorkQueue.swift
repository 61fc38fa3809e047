internal import Glibc

/// What waits for one thread to do it. Any thread may append; one takes, all at once.
@safe final class WorkQueue<Element: Sendable>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let filled: UnsafeMutablePointer<pthread_cond_t>
  // Guarded by `mutex`.
  private var elements: [Element] = []
  private var isClosed = false

  init() {
    unsafe mutex = .allocate(capacity: 1)
    unsafe filled = .allocate(capacity: 1)
    unsafe pthread_mutex_init(mutex, nil)
    // Timeouts by a clock that nobody sets: one that is put back would keep the taker waiting for as long.
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

  /// Adds an element, and wakes the taker; drops it once the queue is closed.
  func append(_ element: Element) {
    unsafe pthread_mutex_lock(mutex)
    if !isClosed { elements.append(element) }
    unsafe pthread_mutex_unlock(mutex)
    unsafe pthread_cond_signal(filled)
  }

  /// Takes no more; the taker ends when it has taken what is there.
  func close() {
    unsafe pthread_mutex_lock(mutex)
    isClosed = true
    unsafe pthread_mutex_unlock(mutex)
    unsafe pthread_cond_signal(filled)
  }

  /// Whether the taker is to come to an end.
  var isEnding: Bool {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return isClosed
  }

  /// Waits until something is there and takes all of it; `nil` once the queue is closed and empty.
  /// - Parameter timeoutMilliseconds: after which nothing is returned; `nil` = waits for ever.
  func takeAll(timeoutMilliseconds: Int? = nil) -> [Element]? {
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
    while elements.isEmpty {
      if isClosed { return nil }
      if timeoutMilliseconds == nil {
        unsafe pthread_cond_wait(filled, mutex)
      } else if unsafe pthread_cond_timedwait(filled, mutex, &end) == ETIMEDOUT {
        return []
      }
    }
    let taken = elements
    elements = []
    return taken
  }
}
