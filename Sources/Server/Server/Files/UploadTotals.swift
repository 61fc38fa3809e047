import Gateway
import Relay

/// What the uploads of a table amount to: a new one is checked against its limits at the same cost, however many there are.
struct UploadTotals {
  private struct Share {
    var uploads = 0
    /// Those that are complete: the log may know them as files.
    var complete = 0
    /// Each upload has its whole length from the start. The sum of lengths may exceed an `Int64`.
    var bytes: Int128 = 0

    mutating func add(_ sign: Int128, _ entry: UploadTable.Entry) {
      uploads += Int(sign)
      if case .complete = entry.phase { complete += Int(sign) }
      bytes += sign * Int128(StoredFile.countedBytes(ofSize: entry.upload.bytes))
    }
  }

  private var users: [String: Share] = [:]
  private var all = Share()
  /// What the disk does not have yet.
  private var missingBytes: Int128 = 0

  mutating func add(_ entry: UploadTable.Entry) { add(1, entry) }
  mutating func remove(_ entry: UploadTable.Entry) { add(-1, entry) }

  private mutating func add(_ sign: Int128, _ entry: UploadTable.Entry) {
    users[entry.user, default: Share()].add(sign, entry)
    if users[entry.user]?.uploads == 0 { users[entry.user] = nil }
    all.add(sign, entry)
    missingBytes += sign * Int128(entry.missingBytes)
  }

  /// Throws unless a user may begin an upload.
  /// - Parameters:
  ///   - usedBytes: those of the user's files.
  ///   - storedBytes: those of all files.
  ///   - freeBytes: returns those of the disk; `nil` = unknown.
  func check(
    _ bytes: Int64, of user: String, usedBytes: Int64, storedBytes: Int64,
    _ options: UploadTable.Options, freeBytes: () -> Int64?
  ) throws(FileRefusal) {
    let own = users[user] ?? Share()
    if options.uploadsPerUser > 0, own.uploads >= options.uploadsPerUser {
      throw .tooManyUploads(limit: options.uploadsPerUser)
    }
    let counted = Int128(StoredFile.countedBytes(ofSize: bytes))
    let used = own.bytes + Int128(usedBytes)
    if options.bytesPerUser > 0, used + counted > Int128(options.bytesPerUser) {
      throw .userIsFull(
        usedBytes: Int64(clamping: used), limit: options.bytesPerUser,
        mayCountTwice: own.complete > 0)
    }
    if options.bytes > 0, all.bytes + Int128(storedBytes) + counted > Int128(options.bytes) {
      throw .relayIsFull
    }
    guard options.minimumFreeBytes > 0, let free = freeBytes() else { return }
    if Int128(free) - missingBytes - Int128(bytes) < Int128(options.minimumFreeBytes) {
      throw .diskIsFull
    }
  }
}
