import Platform
import Relay
import SQLiteLog
import Wire

/// The files of one person, for a copy of what a relay has of them: those that their entries name, and what they have
/// uploaded and not sent.
struct PersonFiles {
  private static let unsentName = "not-sent"

  /// The names under which the person has sent them, by their ids.
  private var names: [String: String] = [:]

  mutating func record(_ record: PersonRecord) {
    guard case .entry(let entry) = record, let file = entry.file else { return }
    names[file.id] = file.name
  }

  /// Copies each file to `ID/NAME` in a folder.
  /// - Returns: how many there are.
  func copy(of user: String, fromDataFolder dataFolder: String, into folder: String) throws -> Int {
    var stored = try StoredFiles(folder: dataFolder)
    var names = names
    for id in try stored.unsent(of: user) { names[id] = Self.unsentName }
    let source = FileFolder(inDataFolder: dataFolder)
    var (count, missing) = (0, 0)
    for (id, name) in names {
      // It may have been deleted since.
      guard let file = try stored.file(id) else { continue }
      guard source.status(of: source.stored(file.hash)) != nil else {
        missing += try stored.file(id) == nil ? 0 : 1
        continue
      }
      do throws(SystemError) {
        try PrivateFiles.createFolder("\(folder)/\(id)")
        try source.copy(file.hash, to: "\(folder)/\(id)/\(name)")
      } catch {
        throw StoreError(
          .environment, "The files of \(user) cannot be copied: \(error). Check \(folder).")
      }
      count += 1
    }
    if missing > 0 {
      throw StoreError(
        .broken,
        "The bytes of \(missing) files of \(user) are missing: relay verify names them. Everything else was exported."
      )
    }
    return count
  }
}
