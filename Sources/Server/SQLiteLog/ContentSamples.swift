internal import Glibc
internal import Platform
internal import SQLite
package import Wire

/// Pieces of entries that are to be erased, and a search for them in the files of a data folder: deleted
/// content may be left in a free page, in a gap of a page that is used, or in a write-ahead log.
///
/// Entries are stored as they are, neither compressed nor encoded (`EntryPack`), so a piece of one is a piece of
/// the file. A piece has a fixed length, and each page of a long text has at least one. A short entry's piece
/// begins before its body, with the id and the sender.
package final class ContentSamples {
  /// The length of a piece.
  static let bytes = 24
  /// How far the pieces of a long body are apart: less than what a small page has of it.
  private static let distance = 1000
  /// Beyond it no pieces are added: they take 50 bytes of memory each.
  static let limit = 4_000_000
  private static let filterBits = 26
  private static let chunkBytes = 1 << 20

  private struct Piece: Hashable {
    var words: (UInt64, UInt64, UInt64)

    init(_ bytes: ArraySlice<UInt8>) {
      func word(_ at: Int) -> UInt64 {
        (0..<8).reduce(0) { $0 | UInt64(bytes[bytes.startIndex + at + $1]) << UInt64(8 * $1) }
      }
      words = (word(0), word(8), word(16))
    }

    static func == (a: Self, b: Self) -> Bool { a.words == b.words }

    func hash(into hasher: inout Hasher) {
      hasher.combine(words.0)
      hasher.combine(words.1)
      hasher.combine(words.2)
    }
  }

  /// A place where a piece was found.
  package struct Finding: Sendable {
    package var path: String
    package var offset: Int
  }

  /// What a search has read and found.
  package struct Result: Sendable {
    package var files = 0
    package var bytes = 0
    package var findings: [Finding] = []
  }

  private var pieces: Set<Piece> = []
  /// Has a bit for the last word of each piece: most places of a file need no further look.
  private var filter = [UInt64](repeating: 0, count: 1 << (filterBits - 6))

  package init() {}

  /// The number of different pieces.
  package var count: Int { pieces.count }

  // MARK: - Pieces

  /// Adds pieces of an entry.
  /// - Parameter identity: of the entry, as the store has it.
  package func add(_ entry: Entry, identity: Int64) {
    add(Self.row(entry, identity).suffix(Self.bytes))
    let id = Array((entry.id + entry.kind.rawValue).utf8)
    add((Array(entry.from.utf8) + id + entry.body).suffix(Self.bytes))
    // The key of the text is that of every text.
    var start = entry.text == nil ? 0 : 8
    while start + Self.bytes <= entry.body.count {
      add(entry.body[start..<start + Self.bytes])
      start += Self.distance
    }
  }

  /// Returns an entry from its identity to its body, as a pack has it.
  private static func row(_ entry: Entry, _ identity: Int64) -> ArraySlice<UInt8> {
    var pack = EntryPack(first: 0, at: 0)
    var numbers = EntryPack.Numbers()
    numbers.identity = identity
    pack.append(
      numbers, sender: entry.from, id: entry.id, kind: entry.kind.rawValue, body: entry.body.span)
    // Without the checksum.
    return pack.bytes.dropLast(4)
  }

  private func add(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count == Self.bytes, pieces.count < Self.limit else { return }
    let piece = Piece(bytes)
    guard pieces.insert(piece).inserted else { return }
    let bit = Self.bit(piece.words.2)
    filter[bit >> 6] |= 1 << UInt64(bit & 63)
  }

  private static func bit(_ word: UInt64) -> Int {
    Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) >> UInt64(64 - filterBits))
  }

  // MARK: - Searching

  /// Searches every file of a folder. What entries that are kept have as well is no finding: others may have
  /// said the same. That none of them is the erased person's is for the caller to find out.
  package func search(folder path: String) throws(StoreError) -> Result {
    var result = Result()
    var found: [(piece: Piece, finding: Finding)] = []
    for file in try Self.files(below: DataFolder(path).path) {
      result.files += 1
      result.bytes += try scan(file) { piece, offset in
        found.append((piece, Finding(path: file, offset: offset)))
      }
    }
    if found.isEmpty { return result }
    let kept = try pieces(keptIn: DataFolder(path))
    result.findings = found.filter { !kept.contains($0.piece) }.map(\.finding)
    return result
  }

  /// Returns the regular files in a folder and in those below it.
  private static func files(below folder: String) throws(StoreError) -> [String] {
    guard let names = PrivateFiles.names(in: folder) else {
      throw unreadable(folder)
    }
    var files: [String] = []
    for name in names.sorted() {
      let path = "\(folder)/\(name)"
      var status = stat()
      // A file may have gone since.
      guard unsafe lstat(path, &status) == 0 else { continue }
      switch status.st_mode & S_IFMT {
      case S_IFREG: files.append(path)
      case S_IFDIR: files += try self.files(below: path)
      default: break
      }
    }
    return files
  }

  /// - Returns: the size of the file.
  private func scan(_ path: String, _ body: (Piece, Int) -> Void) throws(StoreError) -> Int {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return 0 }
      throw Self.unreadable(path)
    }
    defer { close(descriptor) }
    var chunk: [UInt8] = []
    var read = 0
    while true {
      // A piece may lie across two chunks.
      let kept = Array(chunk.suffix(Self.bytes - 1))
      var next = [UInt8](repeating: 0, count: Self.chunkBytes)
      let count = unsafe next.withUnsafeMutableBytes {
        unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
      }
      guard count >= 0 else { throw Self.unreadable(path) }
      if count == 0 { return read }
      chunk = kept + next[..<count]
      scan(chunk) { piece, offset in body(piece, read - kept.count + offset) }
      read += count
    }
  }

  private static func unreadable(_ path: String) -> StoreError {
    StoreError(
      .environment,
      "\(path) cannot be searched: \(DataFolder.meaning(of: errno)). Run relay erase again as the user "
        + "that runs the relay.")
  }

  private func scan(_ bytes: [UInt8], _ body: (Piece, Int) -> Void) {
    var word: UInt64 = 0
    for end in bytes.indices {
      word = word >> 8 | UInt64(bytes[end]) << 56
      let bit = Self.bit(word)
      guard filter[bit >> 6] >> UInt64(bit & 63) & 1 == 1, end >= Self.bytes - 1 else { continue }
      let start = end - (Self.bytes - 1)
      let piece = Piece(bytes[start...end])
      if pieces.contains(piece) { body(piece, start) }
    }
  }

  /// Returns the pieces that entries of the store have now, in a transaction for each row: what is read here
  /// must not hold up a running relay.
  private func pieces(keptIn folder: DataFolder) throws(StoreError) -> Set<Piece> {
    var kept: Set<Piece> = []
    do throws(SQLiteError) {
      let database = try Database(path: folder.databasePath, mode: .readOnly)
      let tables = [
        ("packs", "first", "content"),
        ("entry_rows", "position", "CAST(sender || id || kind AS BLOB) || body"),
      ]
      for (table, key, content) in tables {
        var select = try Statement(
          "SELECT \(key), CAST(\(content) AS BLOB) FROM \(table) WHERE \(key) > ?1 ORDER BY \(key)",
          on: database)
        var last: Int64 = 0
        try select.bind(1, last)
        while try select.step() {
          last = select.integer(0)
          scan(select.blob(1)) { piece, _ in kept.insert(piece) }
          select.reset()
          try select.bind(1, last)
        }
      }
    } catch {
      throw StoreError(error, "read", path: folder.databasePath)
    }
    return kept
  }
}
