internal import CSQLite
internal import Glibc

extension Database {
  /// Whether the write-ahead log of a database is damaged before commits that were synced.
  ///
  /// SQLite takes a log to end where a checksum is wrong, because a loss of power may leave the last
  /// commit incomplete, and drops what follows without an error. With `PRAGMA synchronous = FULL` a commit
  /// is synced before the next one is written: if a further commit follows the damaged one, or the header
  /// is damaged, the disk has changed what was on it. Damage of the last commit alone cannot be told from a
  /// loss of power.
  ///
  /// The format: <https://sqlite.org/fileformat2.html#the_write_ahead_log>.
  package static func hasLostCommits(path: String) -> Bool {
    guard let file = unsafe fopen("\(path)-wal", "rb") else { return false }
    defer { unsafe fclose(file) }
    var header = [UInt8](repeating: 0, count: 32)
    // All zeros: the file was extended, and a loss of power kept its first sector from being written.
    guard unsafe fread(&header, header.count, 1, file) == 1, header.contains(where: { $0 != 0 })
    else { return false }
    let pageBytes = Int(LogSum.word(header, 8))
    var sum = LogSum(isBigEndian: header[3] & 1 == 1)
    sum.add(header[..<24])
    guard LogSum.word(header, 0) | 1 == 0x377F_0683, (512...65_536).contains(pageBytes),
      sum.isStored(in: header, at: 24)
    else { return true }

    var frame = [UInt8](repeating: 0, count: 24 + pageBytes)
    var isDamaged = false
    var commits = 0
    while unsafe fread(&frame, frame.count, 1, file) == 1 {
      // Others are of the time before the log was rewound.
      let isOfLog = frame[8..<16].elementsEqual(header[16..<24])
      let isCommit = LogSum.word(frame, 4) != 0
      sum.add(frame[..<8])
      sum.add(frame[24...])
      if isOfLog, sum.isStored(in: frame, at: 16) {
        if isDamaged, isCommit { commits += 1 }
      } else if !isDamaged {
        isDamaged = true
        if isOfLog, isCommit { commits += 1 }
      } else if !isOfLog {
        return false
      }
      if commits > 1 { return true }
      sum.resume(from: frame, at: 16)
    }
    return false
  }
}
