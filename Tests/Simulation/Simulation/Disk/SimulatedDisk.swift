internal import Mixing
internal import Relay

/// A disk in memory that keeps unsynced changes separately, and drops, reorders and tears them when
/// the power fails. SQLite uses it as a file system (see `SimulatedFileSystem`).
///
/// The assumptions about the medium are those of SQLite's file system for Unix
/// (`SQLITE_IOCAP_POWERSAFE_OVERWRITE`): a write that is cut short changes nothing outside its
/// range. Within the range every sector of 512 bytes has either the old content or the new. The
/// creation or deletion of a file is durable only after a sync of its folder; a file's own sync
/// includes that in the cases in which SQLite's does. Folders were created, too: one whose name is lost takes along what
/// is in it. The bytes of files are on the same disk (`SimulatedFolderDisk`).
///
/// Used by one thread. Every choice comes from the seed.
final class SimulatedDisk {
  /// The current faults.
  struct Trouble: Sendable {
    /// How many of 10,000 calls of each kind fail.
    var failingWrites = 0
    var failingSyncs = 0
    var failingReads = 0
    /// No file may grow.
    var isFull = false

    init() {}
  }

  /// A copy of all files at one moment, for a later restore.
  struct Snapshot {
    fileprivate var files: [String: (content: [UInt8], kind: DiskFile.Kind, writtenAt: Int64)]
  }

  var trouble = Trouble()
  /// The number of further calls that change something until the process dies.
  var callsUntilDeath: Int?
  /// The number of further syncs until the process dies.
  var syncsUntilDeath: Int?
  /// Milliseconds since 1970.
  var wallClock: Int64 = 0
  /// Called during each call of SQLite, for the work of other threads.
  var interlude: (() -> Void)?

  /// Called for every call that changes something.
  var trace: ((() -> String) -> Void)?

  /// Whether the process has died and waits for `losePower` or `endProcess`: until then every call
  /// fails and changes nothing.
  private(set) var isDead = false
  /// Incremented by every death, so that handles of a dead process become invalid.
  private(set) var life = 0
  var tally = Tally()

  private var random: SplitMix64
  private var files: [String: DiskFile] = [:]
  /// All folders that were ever created.
  private var folders: Set<String> = []
  /// The changes of names since the last sync of their folders, in order.
  private var unsyncedNames: [NameChange] = []
  private var connections = 0
  private var isInInterlude = false

  private struct NameChange {
    var name: String
    /// `nil` before it was created, or after it was deleted.
    var before: DiskFile?
    var after: DiskFile?
  }

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  // MARK: - Start and end

  /// Ends the process; the system and its files live on.
  func endProcess() {
    for file in files.values { file.forgetProcesses() }
    begin()
  }

  /// Applies a loss of power: each unsynced change may be lost.
  func losePower() {
    let keepPercent = [0, 10, 50, 90, 100].randomElement(using: &random) ?? 0
    // Of the changes of each name a prefix is durable.
    var indexed: Set<String> = []
    for change in unsyncedNames where !indexed.contains(change.name) {
      if Int.random(in: 0..<100, using: &random) < keepPercent { continue }
      indexed.insert(change.name)
      trace? { "disk: \(change.name) is \(change.before == nil ? "not made" : "back")" }
      files[change.name] = change.before
      tally.count(.nameChangeLost)
    }
    unsyncedNames = []
    for name in files.keys.sorted() {
      let folder = Self.folder(of: name)
      if folders.contains(folder), files[folder] == nil { files[name] = nil }
    }
    trace? { "disk: \(keepPercent) % of what was not synced is kept" }
    for name in files.keys.sorted() {
      files[name]?.losePower(keepPercent: keepPercent, using: &random, &tally)
    }
    begin()
  }

  private func begin() {
    life += 1
    isDead = false
    callsUntilDeath = nil
    syncsUntilDeath = nil
    trouble.isFull = false
  }

  /// Returns the current content of all files.
  func snapshot() -> Snapshot {
    Snapshot(files: files.mapValues { ($0.content, $0.kind, $0.writtenAt) })
  }

  /// Restores the files that `isIncluded` and the snapshot have, and deletes those that the
  /// snapshot does not have. No process may have them open.
  func restore(_ snapshot: Snapshot, where isIncluded: (String) -> Bool = { _ in true }) {
    for name in files.keys.sorted() where isIncluded(name) { files[name] = nil }
    for (name, file) in snapshot.files where isIncluded(name) {
      files[name] = DiskFile(file.content, file.kind)
      files[name]?.writtenAt = file.writtenAt
    }
    unsyncedNames = []
  }

  /// Deletes the files for which `isIncluded` returns true.
  func remove(where isIncluded: (String) -> Bool) {
    restore(Snapshot(files: [:]), where: isIncluded)
  }

  /// The total size of all files.
  var bytes: Int { files.values.reduce(0) { $0 + $1.content.count } }

  // MARK: - Files

  func file(_ name: String) -> DiskFile? { files[name] }

  func nextConnection() -> Int {
    connections += 1
    return connections
  }

  func create(_ name: String, _ kind: DiskFile.Kind = .pages) -> DiskFile {
    let file = DiskFile([], kind)
    file.writtenAt = wallClock
    if kind == .folder { folders.insert(name) }
    trace? { "disk: \(name) is made" }
    self.name(file, name)
    return file
  }

  func delete(_ name: String) {
    guard files[name] != nil else { return }
    trace? { "disk: \(name) is deleted" }
    self.name(nil, name)
  }

  /// Gives a file a name, which the file that had it loses; `nil` = no file.
  func name(_ file: DiskFile?, _ name: String) {
    unsyncedNames.append(NameChange(name: name, before: files[name], after: file))
    files[name] = file
  }

  /// Makes the names of a folder durable.
  func syncNames(of folder: String) {
    unsyncedNames.removeAll {
      let place = Self.folder(of: $0.name)
      // Temporary files of SQLite are nowhere.
      return place == folder || place.isEmpty
    }
  }

  /// Returns the names in a folder.
  func names(in folder: String) -> [String] {
    files.keys.filter { Self.folder(of: $0) == folder }
      .map { String($0.dropFirst(folder.utf8.count + 1)) }.sorted()
  }

  static func folder(of name: String) -> String {
    String(name[..<(name.lastIndex(of: "/") ?? name.startIndex)])
  }

  // MARK: - Faults

  /// The point of a call at which the process dies.
  enum Cut {
    case no
    case before
    case within
    case after
  }

  /// Returns where this call is cut. To be called once for every call that changes something.
  func nextCut(isSync: Bool = false) -> Cut {
    let isCut = Self.isOver(&callsUntilDeath) || isSync && Self.isOver(&syncsUntilDeath)
    guard isCut else { return .no }
    callsUntilDeath = nil
    syncsUntilDeath = nil
    return [.before, .within, .after].randomElement(using: &random) ?? .before
  }

  private static func isOver(_ left: inout Int?) -> Bool {
    guard let count = left else { return false }
    left = count - 1
    return count <= 0
  }

  func die() { isDead = true }

  func fails(_ tenThousandths: Int) -> Bool {
    tenThousandths > 0 && Int.random(in: 0..<10_000, using: &random) < tenThousandths
  }

  func part(of count: Int) -> Int { Int.random(in: 0...count, using: &random) }

  func failSync(_ file: DiskFile) { file.failSync(using: &random) }

  func pause() {
    guard let interlude, !isInInterlude, !isDead else { return }
    isInInterlude = true
    interlude()
    isInInterlude = false
  }
}
