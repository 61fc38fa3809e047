internal import Glibc
internal import Platform

/// What a spawned relay has on disk: its configuration, its data, what it writes. Removed with
/// everything in it when nobody needs it any more.
final class RelayFolder {
  let path: String
  private var disk: SmallDisk?

  /// - Parameters:
  ///   - configuration: the relay's, as YAML.
  ///   - diskBytes: the size of a file system of its own for the data; `nil` is the system's.
  init(configuration: String, diskBytes: Int?) throws {
    // Before anything is there to be removed: it may well be refused.
    if diskBytes != nil { try SmallDisk.enterOwnMounts() }
    path = try Directory.makeTemporary("/tmp/swarm")
    try TextFile.write(
      (configuration.isEmpty ? "{}" : configuration) + "\n", to: self.configuration)
    try TextFile.write("", to: log)
    if let diskBytes {
      guard unsafe mkdir(data, 0o700) == 0 else { throw SystemError.last("mkdir \(data)") }
      disk = try SmallDisk(at: data, bytes: diskBytes)
    }
  }

  deinit {
    disk = nil
    Directory.remove(path)
  }

  var configuration: String { "\(path)/relay.yaml" }
  var data: String { "\(path)/data" }
  /// Its standard output and standard error.
  var log: String { "\(path)/relay.log" }

  var logText: String {
    String(decoding: (try? TextFile.read(log)) ?? [], as: UTF8.self)
  }

  /// Whether a program that is started now finds its data where it was.
  var isWhole: Bool {
    switch disk {
    case .some(let disk): disk.isMounted
    case .none: true
    }
  }

  func fillDisk() throws { try disk?.fill() }
  func keepDiskFull() throws { try disk?.keepFull() }
  func freeDisk() throws { try disk?.free() }
}
