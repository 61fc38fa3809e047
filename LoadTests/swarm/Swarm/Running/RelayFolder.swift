internal import Glibc
internal import Platform

/// The folder of a spawned relay: its configuration, its data and its log. It is removed with its
/// content on deinitialization.
final class RelayFolder {
  let path: String
  private var disk: SmallDisk?

  /// - Parameters:
  ///   - configuration: The relay's configuration, as YAML.
  ///   - diskBytes: The size of a separate file system for the data; `nil` uses the system's.
  init(configuration: String, diskBytes: Int?) throws {
    // First, because it may be refused, and then nothing has to be removed.
    if diskBytes != nil { try SmallDisk.enterOwnMounts() }
    path = try Folder.makeTemporary("/tmp/swarm")
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
    Folder.remove(path)
  }

  var configuration: String { "\(path)/relay.yaml" }
  var data: String { "\(path)/data" }
  /// The backup of the data, and what the program for it has written.
  var backup: String { "\(path)/backup" }
  var backupLog: String { "\(path)/backup.log" }
  /// The relay's standard output and standard error.
  var log: String { "\(path)/relay.log" }

  var logText: String {
    String(decoding: (try? TextFile.read(log)) ?? [], as: UTF8.self)
  }

  /// Whether a program started by this thread sees the relay's data.
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
