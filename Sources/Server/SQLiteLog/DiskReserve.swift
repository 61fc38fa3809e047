internal import Glibc

/// A file of unused bytes in a data folder, which is removed to open the store on a full disk:
/// SQLite needs some space even for reading, for the shared memory of each database.
struct DiskReserve {
  /// More than the shared memory of both databases takes with logs of the usual size.
  static let bytes: off_t = 256 << 10
  private static let stepBytes = 16 << 10

  private let path: String

  init(_ folder: DataFolder) { path = folder.reservePath }

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
    // Not by posix_fallocate, which `swarm`'s recorder of a loss of power does not know.
    let zeros = [UInt8](repeating: 0, count: Self.stepBytes)
    var end = former
    while end < Self.bytes {
      let count = unsafe pwrite(descriptor, zeros, min(zeros.count, Int(Self.bytes - end)), end)
      guard count > 0 else { break }
      end += off_t(count)
    }
    if end < Self.bytes, !isPartial, former == 0 { _ = unsafe unlink(path) }
    return end >= Self.bytes
  }
}
