import Glibc
import ObjectStorage
import Platform
import RelayConfiguration
import SQLiteLog

/// The bucket that several relays share.
struct Bucket {
  /// Fewer than for a backup: a user waits.
  private static let attempts = 3

  private let settings: Configuration.Files.S3
  private let credentials: S3Credentials

  /// Returns the one that is set; `nil` = none.
  init?(_ configuration: Configuration) throws(ServerError) {
    let s3 = configuration.files.s3
    if s3.bucket.isEmpty { return nil }
    var environment: [String: String] = [:]
    for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"] {
      environment[name] = unsafe getenv(name).map { unsafe String(cString: $0) }
    }
    guard let credentials = S3Credentials(environment) else {
      throw ServerError(
        "There are no credentials for the bucket \(s3.bucket) (files.s3). Set AWS_ACCESS_KEY_ID and "
          + "AWS_SECRET_ACCESS_KEY in the environment.", .configuration)
    }
    (settings, self.credentials) = (s3, credentials)
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
  private let folder: FileFolder

  private static let namesAtOnce = 256
  private static let randomBytes = 16

  /// - Parameter folder: that of uploads.
  init(_ bucket: Bucket, _ folder: FileFolder) {
    storage = bucket.storage("files/")
    self.folder = folder
  }

  /// Those of the bucket that is set, to be read beside relays; `nil` = none is.
  init?(_ configuration: Configuration) throws {
    do throws(ServerError) {
      guard let bucket = try Bucket(configuration) else { return nil }
      self.init(bucket, FileFolder(inDataFolder: configuration.dataFolder))
    } catch {
      throw StoreError(.configuration, error.description)
    }
  }

  var check: String { "the service and the network between" }
  var countedBytes: Int64 { 0 }
  var isShared: Bool { true }
  var description: String { storage.description }

  func place(of name: String) -> String { "\(storage.description)/\(name)" }

  func name(ofHash hash: String) -> String {
    "\(hash)-\(RandomName.next(bytes: Self.randomBytes))"
  }

  func store(_ path: String, as name: String) throws(FileBytesError) -> Int64 {
    let size = folder.status(of: path)?.size ?? 0
    try attempt { () throws(StorageError) in
      try storage.put(name, bytes: size) { (range) throws(StorageError) in
        do throws(SystemError) {
          return try folder.disk.read(path, at: range.lowerBound, bytes: range.count).bytes
        } catch {
          throw StorageError(.unavailable, "\(error)")
        }
      }
    }
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
