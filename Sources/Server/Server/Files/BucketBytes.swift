import ObjectStorage
import Platform
import RelayConfiguration

/// The bucket that several relays share.
struct Bucket {
  /// Fewer than for a backup: a user waits.
  private static let attempts = 3

  private let settings: Configuration.Files.S3
  private let credentials: S3Credentials

  init(_ settings: Configuration.Files.S3, _ credentials: S3Credentials) {
    (self.settings, self.credentials) = (settings, credentials)
  }

  /// Returns the objects whose names begin with a prefix, with a connection of their own.
  func storage(_ prefix: String) -> S3Storage {
    S3Storage(
      .init(
        bucket: settings.bucket, prefix: prefix, region: settings.region,
        endpoint: settings.endpoint.isEmpty ? nil : settings.endpoint), credentials,
      attempts: Self.attempts)
  }
}

/// The bytes of files in a bucket of S3, which several relays share.
///
/// A name is never used twice: it has a random number. So no relay removes what another one is storing, and files with
/// the same bytes do not share them.
struct BucketBytes: FileBytes {
  private let storage: S3Storage

  private static let namesAtOnce = 256
  private static let randomBytes = 16

  init(_ bucket: Bucket) { storage = bucket.storage("files/") }

  var check: String { "the service and the network between" }
  var countedBytes: Int64 { 0 }
  var isShared: Bool { true }

  func name(ofHash hash: String) -> String {
    "\(hash)-\(RandomName.next(bytes: Self.randomBytes))"
  }

  func store(_ path: String, as name: String) throws(FileBytesError) -> Int64 {
    let bytes: [UInt8]
    do throws(SystemError) { bytes = try WholeFile.read(path) } catch {
      throw FileBytesError(error)
    }
    try attempt { () throws(StorageError) in try storage.put(bytes, as: name) }
    return 0
  }

  func read(
    _ name: String, at offset: Int64, bytes limit: Int
  ) throws(FileBytesError) -> (bytes: [UInt8], size: Int64)? {
    do throws(StorageError) {
      return try storage.part(offset..<offset + Int64(limit), of: name)
    } catch {
      if error.kind == .missing { return nil }
      throw FileBytesError(error)
    }
  }

  func remove(_ name: String) throws(FileBytesError) -> Int64 {
    try attempt { () throws(StorageError) in try storage.delete(name) }
    return 0
  }

  func names(
    storedBefore time: Int64, from place: String
  ) throws(FileBytesError) -> (names: [String], next: String?) {
    let (objects, next) = try attempt { () throws(StorageError) in
      try storage.page(place.isEmpty ? nil : place, limit: Self.namesAtOnce)
    }
    // Times of this form are ordered as their texts are. One without a time is not old.
    let limit = UTC.text(time, "%Y-%m-%dT%H:%M:%S")
    return (objects.filter { !$0.storedAt.isEmpty && $0.storedAt < limit }.map(\.name), next)
  }

  private func attempt<Value>(
    _ body: () throws(StorageError) -> Value
  ) throws(FileBytesError) -> Value {
    do throws(StorageError) { return try body() } catch { throw FileBytesError(error) }
  }
}
