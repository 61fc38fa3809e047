public import Wire

/// What the log knows of a file that was uploaded. Its bytes are elsewhere, under their hash: files with the same bytes
/// share them.
public struct StoredFile: Equatable, Sendable {
  /// 22 random characters, by which entries name it.
  public var id: String
  /// The user who has uploaded it.
  public var owner: String
  /// The name of the bytes: their SHA-256, as 64 hexadecimal digits; in a bucket with `-` and 22 random
  /// characters after it.
  public var hash: String
  /// That of its thumbnail, if it has one.
  public var thumbnail: String?
  public var description: FileDescription
  /// Milliseconds since 1970.
  public var uploadedAt: Int64
  /// Whether an entry has named it.
  public var isSent = false

  public init(
    id: String, owner: String, hash: String, thumbnail: String? = nil,
    description: FileDescription, uploadedAt: Int64
  ) {
    self.id = id
    self.owner = owner
    self.hash = hash
    self.thumbnail = thumbnail
    self.description = description
    self.uploadedAt = uploadedAt
  }

  /// The SHA-256 of its bytes.
  public var digest: Substring { hash.prefix(64) }

  /// The hashes of all that is kept of it.
  public var hashes: [String] { [hash] + (thumbnail.map { [$0] } ?? []) }

  /// What it counts of a user's limit, in bytes.
  public var countedBytes: Int64 { Self.countedBytes(ofSize: description.size) }

  /// Returns at least what a disk takes for any file: otherwise a limit of bytes would allow millions of tiny ones.
  public static func countedBytes(ofSize size: Int64) -> Int64 { max(size, 4096) }

  /// How long a file is kept that no entry names, in milliseconds.
  public static let unsentMilliseconds: Int64 = 86_400_000
}

/// A place where a file is shown.
public struct FilePlace: Equatable, Sendable {
  public var room: String
  /// The last entry of the room that names the file, and its sender.
  public var seq: Int64
  public var sender: String

  public init(room: String, seq: Int64, sender: String) {
    self.room = room
    self.seq = seq
    self.sender = sender
  }

  /// How many rooms are looked at for one in which a user may read a file: the cost of a request has a limit,
  /// however often a file was sent on.
  public static let limit = 256
}

/// What is looked up of files.
public protocol FileLookup {
  /// Returns a file; `nil` if there is none.
  mutating func file(_ id: String) throws(StoreFailure) -> StoredFile?

  /// Returns the rooms whose kept entries name a file, each with the last one; at most `FilePlace.limit`.
  mutating func places(ofFile id: String) throws(StoreFailure) -> [FilePlace]

  /// Returns the size of a user's files in bytes: of those that they have uploaded and not sent, and of those
  /// that each of their kept entries names.
  mutating func fileBytes(of user: String) throws(StoreFailure) -> Int64

  /// Returns the hashes of bytes that no file has any more, and that are to be removed; at most `limit`.
  mutating func unusedBytes(limit: Int) throws(StoreFailure) -> [String]

  /// Returns which of these hashes a file has.
  mutating func usedBytes(among hashes: [String]) throws(StoreFailure) -> [String]

  /// Returns files that were uploaded before a time, in milliseconds since 1970, and never sent; at most
  /// `limit`.
  mutating func unsentFiles(before at: Int64, limit: Int) throws(StoreFailure) -> [String]
}
