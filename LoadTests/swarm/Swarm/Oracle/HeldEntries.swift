/// What a receiver holds of a room whose log can lose its last entries: for each number which of the
/// entries that had it.
struct HeldEntries: Sendable {
  private(set) var first: Int64 = 1
  private(set) var versions: [UInt8] = []

  var end: Int64 { first + Int64(versions.count) }

  /// The receiver goes on after this number, and drops what it has beyond.
  mutating func goOn(after seq: Int64) {
    if seq + 1 < first || seq + 1 > end {
      (first, versions) = (seq + 1, [])
    } else {
      versions.removeLast(Int(end - seq - 1))
    }
  }

  mutating func append(_ seq: Int64, version: UInt8) {
    // The oracle reports what is out of order.
    if seq != end { goOn(after: seq - 1) }
    versions.append(version)
  }
}
