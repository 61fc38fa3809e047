import Platform
import PostgresLog
import Relay
import RelayConfiguration
import SQLiteLog
import TLS

/// Checks that the bytes of all files that a log knows are there, with their hashes. May run beside relays: what is
/// wrong is looked for once more, since the file may have been removed meanwhile.
struct FileVerifier<Files: KnownFiles & ~Copyable>: ~Copyable {
  private let bytes: any FileBytes
  private var files: Files

  init(_ bytes: any FileBytes, files: consuming Files) {
    self.bytes = bytes
    self.files = files
  }

  /// - Parameter verification: what was found in the log; what is found here is added.
  mutating func run(_ verification: inout StoreVerification) {
    do {
      try checkBytes(&verification)
      try searchUnnamed(&verification)
    } catch {
      verification.add("the files of the store cannot be checked: \(error)")
    }
  }

  /// Why the bytes with a name are of no use; `nil` if they are sound.
  private static func damage(of name: String, in bytes: any FileBytes) throws -> String? {
    let place = bytes.place(of: name)
    var digest = DigestStream(.sha256)
    do {
      guard try bytes.forEachBlock(of: name, { digest.add($0, count: $0.count) }) else {
        return "are missing: there is no \(place)"
      }
    } catch {
      // A service that fails says nothing of a file.
      if bytes.isShared { throw error }
      return "cannot be read: \(error)"
    }
    let isRight = SHA256Digest.hex(digest.finish()) == name.prefix(64)
    return isRight ? nil : "are damaged: \(place) has another SHA-256 than its name"
  }

  private mutating func checkBytes(_ verification: inout StoreVerification) throws {
    var found: [(hash: String, file: String, isThumbnail: Bool, damage: String)] = []
    var further = 0
    let bytes = bytes
    try files.forEach { hash, file, isThumbnail in
      guard let damage = try Self.damage(of: hash, in: bytes) else { return }
      if found.count < StoreVerification.breakLimit {
        found.append((hash, file, isThumbnail, damage))
      } else {
        further += 1
      }
    }
    for (hash, file, isThumbnail, damage) in found where try !files.used(among: [hash]).isEmpty {
      let place = try files.places(of: file).first
      let unsent = place == nil ? ", which no entry names yet," : ""
      verification.add(
        "the bytes of \(isThumbnail ? "the thumbnail of " : "")the file \(file)\(unsent) \(damage). "
          + "Put them back from a backup\(place == nil ? "" : ", or delete the entry").",
        room: place?.room, seq: place?.seq)
    }
    for _ in 0..<further { verification.add("the bytes of a further file are missing or damaged") }
  }

  /// Counts the bytes that no file has. A relay removes them.
  private mutating func searchUnnamed(_ verification: inout StoreVerification) throws {
    let now = WallClock.milliseconds
    let all = try countUnnamed(storedBefore: now)
    let old = try countUnnamed(storedBefore: now - StoredFile.unsentMilliseconds)
    if all > old {
      verification.notes.append(
        "\(bytes.description) has \((all - old).counted("content")) that no file has, of uploads under way or files that were just removed."
      )
    }
    if old > 0 {
      verification.notes.append(
        "\(bytes.description) has \(old.counted("content")) older than a day that no file has. A relay removes such contents within a day."
      )
    }
  }

  private mutating func countUnnamed(storedBefore time: Int64) throws -> Int {
    var (count, place): (Int, String?) = (0, "")
    while let from = place {
      let page = try bytes.names(storedBefore: time, from: from)
      count += page.names.count - (try files.used(among: page.names).count)
      place = page.next
    }
    return count
  }
}

extension StorePlace {
  /// Checks the bytes of files.
  /// - Parameter verification: what was found in the log; what is found here is added.
  func verifyFiles(_ verification: inout StoreVerification) throws {
    switch self {
    case .sqlite(let folder):
      let bytes = FolderBytes(folder: FileFolder(inDataFolder: folder))
      var verifier = FileVerifier(bytes, files: try StoredFiles(folder: folder))
      verifier.run(&verification)
    case .postgresql(let configuration):
      guard let bytes = try BucketBytes(configuration) else { return }
      var verifier = FileVerifier(bytes, files: try SharedFiles(configuration))
      verifier.run(&verification)
    }
  }

  /// Returns how many contents that files have are not in a data folder.
  static func missingFileCount(dataFolder: String) throws -> Int {
    let folder = FileFolder(inDataFolder: dataFolder)
    var files = try StoredFiles(folder: dataFolder)
    var count = 0
    try files.forEach { hash, _, _ in
      if folder.status(of: folder.stored(hash)) == nil { count += 1 }
    }
    return count
  }
}

extension SharedFiles {
  init(_ configuration: Configuration) throws(StoreFailure) {
    try self.init(url: configuration.log.url, options: .init(configuration))
  }
}
