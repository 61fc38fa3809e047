internal import Glibc
internal import Relay

/// The space on the disk of a data folder.
struct DiskSpace: Sendable {
  let path: String
  /// Nothing is written with less; 0 = as long as the disk takes it.
  let minimumBytes: Int

  /// What this user may still use; `nil` = unknown.
  var freeBytes: Int? {
    var facts = statvfs()
    guard unsafe statvfs(path, &facts) == 0 else { return nil }
    let (bytes, isOver) = UInt64(facts.f_bavail).multipliedReportingOverflow(
      by: UInt64(facts.f_frsize))
    return isOver ? .max : Int(clamping: bytes)
  }

  /// Throws if there is too little. Deletions are refused as well: they take space before they free it.
  func check() throws(StoreFailure) {
    guard minimumBytes > 0, let freeBytes, freeBytes < minimumBytes else { return }
    throw StoreFailure(
      "cannot write to \(path): \(freeBytes) bytes are free there, and log.min_free_bytes is \(minimumBytes)"
    )
  }
}
