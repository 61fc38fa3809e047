import Platform
import Relay
import SQLiteLog
import TLS

/// Checks that the bytes of all files that a store knows are there, with their hashes. May run beside a relay: what is
/// wrong is looked for once more, since the file may have been removed meanwhile.
struct FileVerifier: ~Copyable {
  private let folder: FileFolder
  private var files: StoredFiles

  /// - Parameter verification: what was found in the store; what is found here is added.
  static func run(
    dataFolder: String, _ verification: StoreVerification
  ) -> StoreVerification {
    var verification = verification
    do throws(StoreError) {
      var verifier = FileVerifier(
        folder: FileFolder(inDataFolder: dataFolder), files: try StoredFiles(folder: dataFolder))
      try verifier.checkBytes(&verification)
      try verifier.searchUnnamed(&verification)
    } catch {
      verification.add("the files of the store cannot be checked: \(error)")
    }
    return verification
  }

  /// Returns how many contents that files have are not in a data folder.
  static func missingCount(dataFolder: String) throws -> Int {
    let folder = FileFolder(inDataFolder: dataFolder)
    var files = try StoredFiles(folder: dataFolder)
    var count = 0
    try files.forEach { hash, _, _ in
      if folder.status(of: folder.stored(hash)) == nil { count += 1 }
    }
    return count
  }

  private init(folder: FileFolder, files: consuming StoredFiles) {
    self.folder = folder
    self.files = files
  }

  /// Why the bytes with a hash are of no use; `nil` if they are sound.
  private static func damage(of hash: String, in folder: FileFolder) -> String? {
    let path = folder.stored(hash)
    do throws(SystemError) {
      guard SHA256Digest.hex(try folder.digest(of: path)) != hash else { return nil }
      return "are damaged: \(path) has another SHA-256 than its name"
    } catch {
      return "are missing or cannot be read: \(error)"
    }
  }

  private mutating func checkBytes(
    _ verification: inout StoreVerification
  ) throws(StoreError) {
    var found: [(hash: String, file: String, isThumbnail: Bool, damage: String)] = []
    var further = 0
    let folder = folder
    do {
      try files.forEach { hash, file, isThumbnail in
        guard let damage = Self.damage(of: hash, in: folder) else { return }
        if found.count < StoreVerification.breakLimit {
          found.append((hash, file, isThumbnail, damage))
        } else {
          further += 1
        }
      }
    } catch let error as StoreError {
      throw error
    } catch {
      preconditionFailure("no other error is thrown above: \(error)")
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
  private mutating func searchUnnamed(
    _ verification: inout StoreVerification
  ) throws(StoreError) {
    var (young, old) = (0, 0)
    let now = WallClock.milliseconds
    for name in folder.folders {
      let stored = folder.hashes(in: name)
      let used = Set(try files.used(among: stored))
      for hash in stored where !used.contains(hash) {
        guard let status = folder.status(of: folder.stored(hash)) else { continue }
        if now - status.writtenAt < StoredFile.unsentMilliseconds { young += 1 } else { old += 1 }
      }
    }
    if young > 0 {
      verification.notes.append(
        "\(folder.path) has \(young) contents that no file has, of uploads under way or files that were just removed."
      )
    }
    if old > 0 {
      verification.notes.append(
        "\(folder.path) has \(old) contents older than a day that no file has. A relay removes them within a day."
      )
    }
  }
}
