internal import ObjectStorage

/// The hashes of the pages that a backup holds: pages that have them need not be stored again.
struct StoredPages {
  private var hashes: [String: [PageHash]] = [:]

  /// Reads the heads of objects.
  /// - Throws: if one is missing or damaged, or if they are of another store.
  static func read(
    _ names: [ObjectName], from storage: any ObjectStorage, store: String
  ) throws(BackupError) -> StoredPages {
    var stored = StoredPages()
    for name in names {
      let head: [UInt8]
      do throws(StorageError) {
        head = try storage.get(name.text, 0..<BackupObject.headBytes)
      } catch {
        throw error.kind == .missing
          ? BackupError(.damaged, error.description) : BackupError(error)
      }
      guard let (object, _) = BackupObject.head(head), object.name == name else {
        throw BackupError(.damaged, "The object \(storage.description)/\(name.text) is damaged.")
      }
      guard object.store == store else {
        throw BackupError(
          .refused,
          "\(storage.description) has the backup of another store. Use another place for this one.")
      }
      for page in object.pages {
        _ = stored.add(page.hash, file: object.files[page.file].name, page: page.number)
      }
    }
    return stored
  }

  /// - Returns: whether the page has changed.
  mutating func add(_ hash: PageHash, file: String, page: Int) -> Bool {
    let count = hashes[file]?.count ?? 0
    if page > count {
      hashes[file, default: []] += Array(repeating: .none, count: page - count)
    }
    guard hashes[file]?[page - 1] != hash else { return false }
    hashes[file]?[page - 1] = hash
    return true
  }

  /// Forgets pages that a point does not have. They are stored again when they are back: what was read of them
  /// before may have been dropped.
  mutating func keep(_ files: [BackupObject.File]) {
    hashes = hashes.filter { name, _ in files.contains { $0.name == name } }
    for file in files {
      let count = (hashes[file.name]?.count ?? 0) - file.pageCount
      if count > 0 { hashes[file.name]?.removeLast(count) }
    }
  }
}
