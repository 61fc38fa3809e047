import ArgumentParser
import Glibc
internal import ObjectStorage
import Platform
import SQLiteLog

/// Where a backup is: a folder, or a bucket of S3 and what the names of its objects begin with.
struct StoragePlace: ExpressibleByArgument {
  private enum Kind {
    case folder(String)
    case bucket(String, prefix: String)
  }
  private let kind: Kind

  private static let scheme = "s3://"

  init?(argument: String) {
    guard argument.hasPrefix(Self.scheme) else {
      guard !argument.isEmpty, !argument.contains("://") else { return nil }
      kind = .folder(argument)
      return
    }
    let parts = argument.dropFirst(Self.scheme.count).split(separator: "/")
    guard let bucket = parts.first else { return nil }
    let isName = bucket.utf8.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "-.".utf8.contains(byte)
    }
    guard isName else { return nil }
    kind = .bucket(String(bucket), prefix: parts.dropFirst().map { "\($0)/" }.joined())
  }

  /// Refuses a folder that is a data folder or in it: a backup there would copy itself, and be lost with it.
  func checkIsOutside(_ dataFolder: String) throws {
    guard case .folder(let path) = kind, Self.isInside(path, dataFolder) else { return }
    throw StoreError(
      .configuration,
      "\(path) is in the data folder \(dataFolder), and would be lost with it. Use a folder elsewhere, best on "
        + "another disk.")
  }

  private static func isInside(_ path: String, _ folder: String) -> Bool {
    guard let wanted = identity(of: folder) else { return false }
    var place = path.hasPrefix("/") ? "/" : "."
    // A folder that does not exist yet is created in one that does.
    for name in path.split(separator: "/") {
      guard identity(of: "\(place)/\(name)") != nil else { break }
      place += "/\(name)"
    }
    while let found = identity(of: place) {
      if found == wanted { return true }
      place += "/.."
      if identity(of: place) == found { return false }
    }
    return false
  }

  /// The device and the number of a folder.
  private static func identity(of path: String) -> [UInt64]? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    return [UInt64(status.st_dev), UInt64(status.st_ino)]
  }

  func open(_ options: StorageOptions) throws -> any ObjectStorage {
    switch kind {
    case .folder(let path): return FolderStorage(path)
    case .bucket(let bucket, let prefix):
      let environment = Environment.variables
      guard let credentials = S3Credentials(environment) else {
        StandardError.write(
          "There are no credentials for the bucket. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the "
            + "environment.\n")
        throw ExitCode.configuration
      }
      let endpoint =
        options.endpoint?.origin ?? environment["AWS_ENDPOINT_URL_S3"]
        ?? environment["AWS_ENDPOINT_URL"]
      let region =
        options.region ?? environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"]
        ?? "us-east-1"
      return S3Storage(
        .init(
          bucket: bucket, prefix: prefix, region: region,
          endpoint: endpoint.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }), credentials)
    }
  }
}

/// `--endpoint` and `--region`, of places in S3.
struct StorageOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The URL of a service like S3 (default: AWS_ENDPOINT_URL, or Amazon's).", valueName: "url"))
  var endpoint: Endpoint?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The region of the bucket (default: AWS_REGION, or us-east-1).", valueName: "name"))
  var region: String?

  /// The URL of a service, without a path.
  struct Endpoint: ExpressibleByArgument {
    let origin: String

    init?(argument: String) {
      guard let scheme = ["http://", "https://"].first(where: argument.hasPrefix) else {
        return nil
      }
      origin = argument.hasSuffix("/") ? String(argument.dropLast()) : argument
      guard !origin.dropFirst(scheme.count).isEmpty,
        !origin.dropFirst(scheme.count).contains("/")
      else { return nil }
    }
  }
}
