import PostgresLog
import Relay
import SQLiteLog

/// What a log knows of files, read beside relays.
protocol KnownFiles: ~Copyable {
  /// Calls `body` with each hash that a file has, or a thumbnail, and such a file.
  mutating func forEach(
    _ body: (_ hash: String, _ file: String, _ isThumbnail: Bool) throws -> Void
  ) throws

  /// Returns which of these hashes a file has.
  mutating func used(among hashes: [String]) throws -> [String]

  /// Returns the rooms whose kept entries name a file: see `FileLookup`.
  mutating func places(of file: String) throws -> [FilePlace]

  mutating func file(_ id: String) throws -> StoredFile?

  /// Returns the files that a user has uploaded and not sent.
  mutating func unsent(of user: String) throws -> [String]
}

extension StoredFiles: KnownFiles {}

extension SharedFiles: KnownFiles {
  func used(among hashes: [String]) throws -> [String] { try usedBytes(among: hashes) }
  func places(of file: String) throws -> [FilePlace] { try places(ofFile: file) }
}
