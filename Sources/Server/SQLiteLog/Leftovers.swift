/// What a commit leaves for later, since there may be very much of it: edits of a text that it has
/// deleted, which readers are shown without their text from then on, and reactions to entries that it
/// has trimmed, which nobody asks for any more. Both are noted in the same transaction, and worked off
/// a slice at a time, between two batches, also after a restart.
enum Leftovers {
  /// How many edits one transaction may overwrite.
  struct Slice {
    static let editsLimit = 128
    /// Of the texts that are overwritten. One that is larger by itself is a slice of its own.
    static let bytesLimit: Int64 = 1 << 19

    private(set) var edits = 0
    private var bytes: Int64 = 0

    var editsLeft: Int {
      return max(0, Self.editsLimit - edits)
    }

    /// Whether another one may be overwritten.
    mutating func take(bytes size: Int64) -> Bool {
      guard editsLeft > 0, edits == 0 || bytes + size <= Self.bytesLimit else { return false }
      edits += 1
      bytes += size
      return true
    }
  }

  /// How many reactions one transaction may delete.
  static let reactionsLimit: Int64 = 1024

  static let exist = """
    SELECT EXISTS (SELECT 1 FROM redactions) OR EXISTS (SELECT 1 FROM trims)
    """
}
