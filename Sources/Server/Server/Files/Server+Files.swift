import Gateway
import Glibc
import Logging
import ObjectStorage
import PictureProcessing
import Platform
import PostgresLog
import Relay
import RelayConfiguration
import TLS

extension Server {
  /// Opens the folder of files; `nil` if the log keeps none.
  static func openFiles(
    _ configuration: Configuration, _ log: any Log, _ pictures: PictureProcessor?
  ) throws(ServerError) -> (FileKeeper?, FileSettings?) {
    let shared = log as? PostgresLog
    if shared != nil, configuration.files.s3.bucket.isEmpty { return (nil, nil) }
    let isTemporary = log is MemoryLog
    let stored = FileFolder(inDataFolder: configuration.dataFolder).path
    // That of a store must not be cleared by a relay that only tries something.
    let folder = FileFolder(path: "\(stored)\(isTemporary ? ".temporary" : "")")
    let bucket: Bucket?
    do throws(ServerError) { bucket = try Bucket(configuration) } catch {
      log.stop()
      throw error
    }
    let limits = configuration.limits
    var options = UploadTable.Options()
    options.bytesPerUser = limits.entry.fileBytesPerUser
    options.uploadsPerUser = limits.uploadsPerUser
    options.bytes = Int64(configuration.files.bytes)
    options.minimumFreeBytes = Int64(configuration.files.minimumFreeBytes)
    options.areShared = bucket != nil
    let key: [UInt8]
    do throws(SystemError) {
      key =
        if let shared {
          // A link of one relay is good at all.
          SHA256Digest.code(of: "links to files", key: shared.identityKey.bytes)
        } else {
          try isTemporary ? Self.randomKey() : Self.linkKey(in: folder.path)
        }
    } catch {
      log.stop()
      throw ServerError("The folder of files cannot be used: \(error).", .environment)
    }
    let settings = FileSettings(
      limitBytes: limits.fileBytes, bytesPerSecond: limits.fileBytesPerSecond,
      totalBytesPerSecond: configuration.files.bytesPerSecond
    ) { SHA256Digest.code(of: $0, key: key) }
    let files = FileKeeper(
      folder: folder, bytes: bucket.map { BucketBytes($0, folder) } ?? FolderBytes(folder: folder),
      uploads: bucket?.storage("uploads/"), isTemporary: isTemporary, options,
      processor: MediaFiles(pictures: pictures))
    return (files, settings)
  }

  static func pictures(_ logger: Logger) -> PictureProcessor? {
    do throws(SystemError) { return try PictureProcessor() } catch {
      logger.warning(
        "No picture is shown: each is a file to download, and people have initials. Install relay-media, which comes with relay, and restart.",
        metadata: ["error": "\(error)"])
      return nil
    }
  }

  private static let keyBytes = 32

  private static func randomKey() -> [UInt8] {
    var random = SystemRandomNumberGenerator()
    return (0..<keyBytes).map { _ in UInt8.random(in: .min ... .max, using: &random) }
  }

  /// Returns the key of links, which stays the same, so that a link survives a restart.
  private static func linkKey(in folder: String) throws(SystemError) -> [UInt8] {
    let path = "\(folder)/link.key"
    try PrivateFiles.createSecretFolder(folder)
    if let key = try? PrivateFiles.readSecret(path, limitBytes: keyBytes).bytes,
      key.count == keyBytes
    {
      return key
    }
    let key = randomKey()
    try WholeFile.replace(path, with: key)
    return key
  }
}

extension Configuration {
  /// Where browsers get files: under the scheme of the page, and at its port, unless `files.host` has one; `nil` = where
  /// they get the page.
  /// - Parameter address: where the relay listens.
  func fileHost(listeningOn address: String) -> FileHost? {
    guard let place = files.place else { return nil }
    let page = publicOrigin(listeningOn: address)
    let scheme = page.prefix { $0 != ":" }
    let authority = page.dropFirst("\(scheme)://".count)
    let port = place.port ?? Files.Place(String(authority))?.port
    return FileHost(origin: "\(scheme)://\(place.name)\(port.map { ":\($0)" } ?? "")")
  }
}
