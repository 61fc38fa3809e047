internal import Glibc

/// A file of unused bytes in a data directory, which is removed to open the store on a full disk:
/// SQLite needs some space even for reading, for the shared memory of each database.
struct DiskReserve {
  /// More than the shared memory of both databases takes with logs of the usual size.
  static let bytes: off_t = 256 << 10
  private static let stepBytes: off_t = 16 << 10

  private let path: String

  init(_ directory: DataDirectory) { path = directory.reservePath }

  /// Opens a store. On a full disk, removes the reserve and tries again.
  /// - Parameter isLent: set if the reserve was needed.
  func lend<Result>(
    _ isLent: inout Bool, to open: () throws(StoreError) -> sending Result
  ) throws(StoreError) -> sending Result {
    do throws(StoreError) {
      return try open()
    } catch {
      guard error.isFull, unsafe unlink(path) == 0 else { throw error }
      isLent = true
      return try open()
    }
  }

  /// Creates the reserve.
  /// - Parameter isPartial: whether to make it as large as the free space allows: what was lent goes
  ///   back, for the next start. Otherwise all of a new one is created, or nothing.
  /// - Returns: whether there was space for all of it.
  func fill(isPartial: Bool) -> Bool {
    let descriptor = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    fchmod(descriptor, 0o600)
    let former = lseek(descriptor, 0, SEEK_END)
    if posix_fallocate(descriptor, 0, Self.bytes) == 0 { return true }
    if isPartial || former > 0 {
      var end = Self.stepBytes
      while posix_fallocate(descriptor, 0, end) == 0 { end += Self.stepBytes }
    } else {
      _ = unsafe unlink(path)
    }
    return false
  }
}
