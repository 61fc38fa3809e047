internal import Glibc
internal import Platform
internal import Mixing

/// A relay's data folder whose writes and syncs are recorded, so that a power loss can be
/// simulated.
///
/// The relay runs with the recorder of `LoadTests/powerloss` preloaded. After it has been killed,
/// `losePower` replaces its files by a possible state of the disk.
struct RecordedDisk: Sendable {
  /// The result of a simulated power loss.
  struct Loss: Sendable {
    var mercy: Disk.Mercy
    /// The number of writes, truncations and name changes recorded since the last one.
    var events: Int
  }

  private let folder: String
  private let record: String
  private let recorder: String
  /// The durable files, by name.
  private var files: [String: [UInt8]] = [:]

  /// - Parameters:
  ///   - folder: The relay's data folder, which is empty or does not exist yet.
  ///   - record: The path of the record, outside of the folder.
  ///   - program: The folder of swarm and the recorder, with a trailing slash.
  init(folder: String, record: String, besides program: String) throws(Run.Failure) {
    self.folder = folder
    self.record = record
    recorder = try PreloadedLibrary.path(
      "libPowerLossRecorder.so", besides: program, for: "do: power_loss")
  }

  /// The variables for the relay's environment.
  var environment: [String] {
    ["LD_PRELOAD=\(recorder)", "POWERLOSS_FOLDER=\(folder)", "POWERLOSS_RECORD=\(record)"]
  }

  /// Replaces the folder's files by a possible state of the disk. The relay must have ended.
  /// Blocks.
  mutating func losePower(_ mercy: Disk.Mercy, seed: UInt64) throws -> Loss {
    var random = SplitMix64(seed: seed)
    // Without one, the relay was killed before it had opened a file: that may be so after its restart.
    let hasRecord = unsafe access(record, F_OK) == 0
    let events = try DiskRecord(hasRecord || files.isEmpty ? WholeFile.read(record) : [])
    files = Disk(files, events).afterPowerLoss(mercy, using: &random)
    // Shared memory is lost in any case.
    files = files.filter { !$0.key.hasSuffix("-shm") }
    // Of the folder with the bytes of files nothing is recorded: it stays.
    for (name, isFolder) in try Folder.entries(of: folder) where files[name] == nil && !isFolder {
      guard unsafe unlink("\(folder)/\(name)") == 0 else {
        throw SystemError.last("unlink \(name)")
      }
    }
    for (name, bytes) in files {
      try WholeFile.write(bytes, to: "\(folder)/\(name)", permissions: 0o600)
    }
    if hasRecord, unsafe unlink(record) != 0 { throw SystemError.last("unlink \(record)") }
    return Loss(mercy: mercy, events: events.events.count)
  }
}
