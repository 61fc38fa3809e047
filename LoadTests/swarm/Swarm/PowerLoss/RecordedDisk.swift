internal import Glibc
internal import Platform
internal import Mixing

/// A relay's data folder, of which it is known what was synced: so that the power can be cut.
///
/// The relay runs with the recorder of `LoadTests/powerloss` preloaded. When it has been killed,
/// `losePower` replaces its files by what a disk might have kept of them.
struct RecordedDisk: Sendable {
  /// What a loss of power did.
  struct Loss: Sendable {
    var mercy: Disk.Mercy
    /// Writes, cuts and changes of names that were recorded since the last one.
    var events: Int
  }

  private let folder: String
  private let record: String
  private let recorder: String
  /// What is safely there, by name.
  private var files: [String: [UInt8]] = [:]

  /// - Parameters:
  ///   - folder: of the relay's data, which is empty or not there yet.
  ///   - record: where to record; not in there.
  ///   - program: where swarm is, and the recorder beside it; with a slash behind.
  init(folder: String, record: String, besides program: String) throws {
    self.folder = folder
    self.record = record
    let name = "libPowerLossRecorder.so"
    let candidates = [program + name, program + "../lib/" + name]
    guard let found = candidates.first(where: { unsafe access($0, R_OK) == 0 }) else {
      throw Run.Failure(
        description: "do: power_loss needs \(name), which is not in \(program):"
          + " build all of the project (make build), or install it (make install)", isUsage: true)
    }
    recorder = found
  }

  /// What the relay's environment needs.
  var environment: [String] {
    ["LD_PRELOAD=\(recorder)", "POWERLOSS_FOLDER=\(folder)", "POWERLOSS_RECORD=\(record)"]
  }

  /// Leaves of the folder what a disk may have kept. The relay must be dead. Blocks.
  mutating func losePower(_ mercy: Disk.Mercy, seed: UInt64) throws -> Loss {
    var random = SplitMix64(seed: seed)
    let events = try DiskRecord(BinaryFile.read(record))
    files = Disk(files, events).afterPowerLoss(mercy, using: &random)
    // What lives in shared memory alone is gone in any case.
    files = files.filter { !$0.key.hasSuffix("-shm") }
    for (name, _) in try Directory.entries(of: folder) where files[name] == nil {
      guard unsafe unlink("\(folder)/\(name)") == 0 else {
        throw SystemError.last("unlink \(name)")
      }
    }
    for (name, bytes) in files { try BinaryFile.write(bytes, to: "\(folder)/\(name)") }
    guard unsafe unlink(record) == 0 else { throw SystemError.last("unlink \(record)") }
    return Loss(mercy: mercy, events: events.events.count)
  }
}
