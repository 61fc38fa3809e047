import Glibc

/// Waits until poll(2) reports `event`; false at the deadline.
public func becomes(
  _ event: Int32, _ descriptor: Int32, _ deadline: Deadline = Deadline(seconds: 10)
) -> Bool {
  var request = pollfd(fd: descriptor, events: Int16(event), revents: 0)
  while true {
    let count = unsafe poll(&request, 1, deadline.milliseconds)
    if count < 0, errno == EINTR { continue }
    return count > 0
  }
}

/// Checks a condition every 20 ms until it is true; for changes that no descriptor reports.
/// - Returns: false if the deadline passed before.
public func becomesTrue(
  within deadline: Deadline = Deadline(), _ condition: () throws -> Bool
) rethrows -> Bool {
  while try !condition() {
    if deadline.hasPassed { return false }
    usleep(20_000)
  }
  return true
}

/// `becomesTrue` for a condition that waits itself, or a test that must not hold a thread.
///
/// It is asked again after each rest, also after the deadline: tests that block can hold all threads of the pool for minutes.
public func eventually(
  within deadline: Deadline = Deadline(), _ condition: () async throws -> Bool
) async throws -> Bool {
  while try await !condition() {
    if deadline.hasPassed { return false }
    try await Task.sleep(for: .milliseconds(20))
  }
  return true
}
