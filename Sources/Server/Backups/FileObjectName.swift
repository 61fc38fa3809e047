internal import ObjectStorage
internal import SQLite

/// The name of an object of `FileObjects`: `HASH.2-4`, the second of four pieces of the bytes that have this SHA-256, or
/// `HASH.unneeded-0000000042`, from that point on no one needs them.
struct FileObjectName: Hashable {
  enum Kind: Hashable {
    case piece(number: Int, count: Int)
    case unneeded(from: Int)
  }

  var hash: String
  var kind: Kind

  private static let unneeded = "unneeded-"
  private static let hashDigits = 64

  static func piece(_ number: Int, of count: Int, _ hash: String) -> Self {
    Self(hash: hash, kind: .piece(number: number, count: count))
  }

  static func unneeded(from point: Int, _ hash: String) -> Self {
    Self(hash: hash, kind: .unneeded(from: point))
  }

  var text: String {
    switch kind {
    case .piece(let number, let count): "\(hash).\(number)-\(count)"
    case .unneeded(let point): "\(hash).\(Self.unneeded)\(ObjectName.padded(number: point))"
    }
  }

  private init(hash: String, kind: Kind) { (self.hash, self.kind) = (hash, kind) }

  /// `nil` for the name of anything else.
  init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, Self.isHash(parts[0]) else { return nil }
    hash = String(parts[0])
    if parts[1].hasPrefix(Self.unneeded) {
      guard let point = Int(parts[1].dropFirst(Self.unneeded.count)) else { return nil }
      kind = .unneeded(from: point)
    } else {
      let numbers = parts[1].split(separator: "-").compactMap { Int($0) }
      guard numbers.count == 2, numbers[0] > 0, numbers[0] <= numbers[1] else { return nil }
      kind = .piece(number: numbers[0], count: numbers[1])
    }
    guard self.text == text else { return nil }
  }

  static func isHash(_ text: Substring) -> Bool {
    text.utf8.count == hashDigits
      && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  /// Returns all names; none if the storage does not exist.
  static func all(in storage: any ObjectStorage) throws(BackupError) -> [Self] {
    do throws(StorageError) { return try storage.list().compactMap(Self.init) } catch {
      if error.kind == .missing { return [] }
      throw BackupError(error)
    }
  }

  /// Returns in how many pieces a content is there; `nil` if not all of them are among the names.
  static func wholeCount(_ names: [Self]) -> Int? {
    let kinds = Set(names.map(\.kind))
    for case .piece(1, let count) in kinds
    where (1...count).allSatisfy({ kinds.contains(.piece(number: $0, count: count)) }) {
      return count
    }
    return nil
  }

  /// Returns the path of stored bytes in a data folder, where `FileFolder` in Server puts them.
  static func path(of hash: String, inDataFolder folder: String) -> String {
    "\(folder)/\(FileObjects.folder)/\(hash.prefix(2))/\(hash)"
  }
}

extension Database {
  /// The hashes that the files of a store have; none in the store of a relay that kept no files.
  func fileHashes() throws(SQLiteError) -> Set<String> {
    guard try integer("SELECT count(*) FROM sqlite_schema WHERE name = 'files'") > 0 else {
      return []
    }
    var select = try Statement(
      "SELECT hash FROM files UNION ALL SELECT thumbnail FROM files WHERE thumbnail <> ''", on: self
    )
    var hashes: Set<String> = []
    while try select.step() { hashes.insert(select.text(0)) }
    return hashes.filter { FileObjectName.isHash($0[...]) }
  }
}
