/// Work that a commit defers because it may be large: overwriting the edits of a deleted text,
/// which readers see without content from then on, and deleting the reactions to trimmed entries,
/// which are no longer read. Both are recorded in the same transaction, and processed in slices
/// between two batches, also after a restart.
enum Leftovers {
  /// The edits that one transaction overwrites.
  struct Slice {
    static let editsLimit = 128
    /// The limit of the texts' total size. A single larger text is a slice of its own.
    static let bytesLimit: Int64 = 1 << 19

    private(set) var edits = 0
    private var bytes: Int64 = 0

    var editsLeft: Int {
      return max(0, Self.editsLimit - edits)
    }

    /// Adds an edit to the slice, and returns whether it fits.
    mutating func take(bytes size: Int64) -> Bool {
      guard editsLeft > 0, edits == 0 || bytes + size <= Self.bytesLimit else { return false }
      edits += 1
      bytes += size
      return true
    }
  }

  /// How many reactions one transaction deletes at most.
  static let reactionsLimit: Int64 = 1024

  static let exist = """
    SELECT EXISTS (SELECT 1 FROM redactions) OR EXISTS (SELECT 1 FROM trims)
    """
}
