internal import Mixing
internal import Relay

/// A disk in memory that keeps what was not synced apart, and drops, reorders and tears it when the
/// power fails. SQLite uses it as a file system (see `SimulatedFileSystem`).
///
/// What is assumed of the medium is what SQLite's own file system for Unix assumes
/// (`SQLITE_IOCAP_POWERSAFE_OVERWRITE`): a write that is cut short changes nothing beside its range.
/// Within the range every sector of 512 bytes has the old content or the new. A file that was made or
/// deleted is so for sure only when the directory was synced; a file's own sync does that where
/// SQLite's does it.
///
/// Used by one thread. Every choice comes from the seed.
final class SimulatedDisk {
  /// What goes wrong just now.
  struct Trouble: Sendable {
    /// How many of 10,000 calls fail.
    var failingWrites = 0
    var failingSyncs = 0
    var failingReads = 0
    /// No file may grow.
    var isFull = false

    init() {}
  }

  /// All files at one moment, to be put back later.
  struct Snapshot {
    fileprivate var files: [String: [UInt8]]
  }

  var trouble = Trouble()
  /// The process dies at the call that comes after so many others which change something.
  var callsUntilDeath: Int?
  /// The same, of syncs alone.
  var syncsUntilDeath: Int?
  /// Milliseconds since 1970.
  var wallClock: Int64 = 0
  /// What others do while a call of SQLite's is under way.
  var interlude: (() -> Void)?

  /// Is told of every call that changes something.
  var trace: ((() -> String) -> Void)?

  /// Whether the process has died and waits for `losePower` or `endProcess`: until then every call
  /// fails and changes nothing.
  private(set) var isDead = false
  /// Rises with every death, so that what the dead had open is of no more use.
  private(set) var life = 0
  var tally = Tally()

  private var random: SplitMix64
  private var files: [String: DiskFile] = [:]
  /// Since the last sync of the directory, in order.
  private var unsyncedNames: [NameChange] = []
  private var connections = 0
  private var isInInterlude = false

  private struct NameChange {
    var name: String
    /// `nil` before it was made, or after it was deleted.
    var before: DiskFile?
    var after: DiskFile?
  }

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  // MARK: - Ends and beginnings

  /// The process has died, or does so now; the system and its files live on.
  func endProcess() {
    for file in files.values { file.forgetProcesses() }
    begin()
  }

  /// The power fails: of what was not synced, each change may be lost.
  func losePower() {
    let keepPercent = [0, 10, 50, 90, 100].randomElement(using: &random) ?? 0
    // Of each name's changes some first ones are durable.
    var indexed: Set<String> = []
    for change in unsyncedNames where !indexed.contains(change.name) {
      if Int.random(in: 0..<100, using: &random) < keepPercent { continue }
      indexed.insert(change.name)
      trace? { "disk: \(change.name) is \(change.before == nil ? "not made" : "back")" }
      files[change.name] = change.before
      tally.count(.nameChangeLost)
    }
    unsyncedNames = []
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

  /// All files as they are seen now, at one moment.
  func snapshot() -> Snapshot { Snapshot(files: files.mapValues { $0.content }) }

  /// Puts the files back that `isIncluded` and the snapshot has, and deletes those it has not.
  /// Nobody may have them open.
  func restore(_ snapshot: Snapshot, where isIncluded: (String) -> Bool = { _ in true }) {
    for name in files.keys.sorted() where isIncluded(name) { files[name] = nil }
    for (name, content) in snapshot.files where isIncluded(name) { files[name] = DiskFile(content) }
    unsyncedNames = []
  }

  /// Deletes the files that `isIncluded`.
  func remove(where isIncluded: (String) -> Bool) {
    restore(Snapshot(files: [:]), where: isIncluded)
  }

  /// What is stored in all files together.
  var bytes: Int { files.values.reduce(0) { $0 + $1.content.count } }

  // MARK: - What files are there

  func file(_ name: String) -> DiskFile? { files[name] }

  func nextConnection() -> Int {
    connections += 1
    return connections
  }

  func create(_ name: String) -> DiskFile {
    let file = DiskFile()
    trace? { "disk: \(name) is made" }
    unsyncedNames.append(NameChange(name: name, before: files[name], after: file))
    files[name] = file
    return file
  }

  func delete(_ name: String) {
    guard let file = files[name] else { return }
    trace? { "disk: \(name) is deleted" }
    unsyncedNames.append(NameChange(name: name, before: file, after: nil))
    files[name] = nil
  }

  func syncNames() { unsyncedNames = [] }

  // MARK: - What goes wrong

  /// Where a call that changes something is cut by the death of the process.
  enum Cut {
    case no
    case before
    case within
    case after
  }

  /// To be asked once for every call that changes something.
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
