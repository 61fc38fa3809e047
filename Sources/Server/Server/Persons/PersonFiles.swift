import Glibc
import Platform
import Relay
import SQLiteLog
import Wire

/// The files of one person, for a copy of what a relay has of them: those that their entries name, and what they have
/// uploaded and not sent.
struct PersonFiles {
  private static let unsentName = "not-sent"
  /// For a name that is none, which earlier versions have imported.
  private static let unusableName = "unnamed"

  /// The names under which the person has sent them, by their ids.
  private var names: [String: String] = [:]

  mutating func record(_ record: PersonRecord) {
    guard case .entry(let entry) = record, let file = entry.file else { return }
    names[file.id] = FileContent.isValid(name: file.name) ? file.name : Self.unusableName
  }

  /// Copies each file to `ID/NAME` in a folder.
  /// - Returns: how many there are.
  func copy<Files: KnownFiles & ~Copyable>(
    of user: String, from bytes: any FileBytes, _ files: inout Files, into folder: String
  ) throws -> Int {
    var names = names
    for id in try files.unsent(of: user) { names[id] = Self.unsentName }
    var (count, missing) = (0, 0)
    for (id, name) in names {
      // It may have been deleted since.
      guard let file = try files.file(id) else { continue }
      do {
        guard try copy(file.hash, from: bytes, to: "\(folder)/\(id)", name) else {
          missing += try files.file(id) == nil ? 0 : 1
          continue
        }
      } catch {
        throw StoreError(
          .environment, "The files of \(user) cannot be copied: \(error). Check \(folder).")
      }
      count += 1
    }
    if missing > 0 {
      throw StoreError(
        .broken,
        "The bytes of \(missing.counted("file")) of \(user) are missing: relay verify says of which. Everything else was "
          + "exported."
      )
    }
    return count
  }

  /// - Returns: whether the bytes are there.
  private func copy(
    _ hash: String, from bytes: any FileBytes, to folder: String, _ name: String
  ) throws -> Bool {
    guard try bytes.read(hash, at: 0, bytes: 1) != nil else { return false }
    try PrivateFiles.createFolder(folder)
    let path = "\(folder)/\(name)"
    let target = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard target >= 0 else { throw SystemError.last("open \(path)") }
    defer { close(target) }
    return try bytes.forEachBlock(of: hash) { block in
      guard WholeFile.write(block.span, to: target) else { throw SystemError.last("write \(path)") }
    }
  }
}
