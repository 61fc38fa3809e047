internal import Glibc

/// The number of this process among those that have an account's file open, and a lock by which
/// the others know that it is running: the kernel releases it when the process ends, also by
/// SIGKILL.
///
/// The lock is on one byte of a file next to the database, at the offset of the number
/// (`F_OFD_SETLK`). Not on the database itself: SQLite's locks are there.
struct InstanceLock: ~Copyable {
  private let descriptor: Int32
  /// More than 0; random, since process ids are used again, and mean nothing in another container.
  let number: Int64

  private static let numbers = 1...(Int64(1) << 62)
  /// Only defined with `_GNU_SOURCE`.
  private static let setLock: Int32 = 37
  private static let getLock: Int32 = 36

  init(_ location: Location) throws(ArchiveError) {
    number = Int64.random(in: Self.numbers)
    descriptor = unsafe open(location.instancesPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw Location.refusal("The file \(location.instancesPath)", errno)
    }
    var lock = Self.lock(of: number)
    guard unsafe fcntl(descriptor, Self.setLock, &lock) == 0 else {
      throw Location.refusal("The lock on \(location.instancesPath)", errno)
    }
  }

  /// Unlocks explicitly: see `LocationLock`.
  deinit {
    guard descriptor >= 0 else { return }
    var none = Self.lock(of: number)
    none.l_type = Int16(F_UNLCK)
    _ = unsafe fcntl(descriptor, Self.setLock, &none)
    close(descriptor)
  }

  /// Whether another process with this number is running; false for this one.
  func isHeldByAnother(_ number: Int64) -> Bool {
    guard Self.numbers.contains(number), number != self.number else { return false }
    var lock = Self.lock(of: number)
    guard unsafe fcntl(descriptor, Self.getLock, &lock) == 0 else { return true }
    return lock.l_type != Int16(F_UNLCK)
  }

  private static func lock(of number: Int64) -> flock {
    flock(
      l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: off_t(number), l_len: 1, l_pid: 0)
  }
}
