internal import SQLite
internal import Wire

/// Replaces a damaged file: moves it aside and puts a new one with its outbox and its drafts in its
/// place. The caller must be the only process that has the file open or can open it.
///
/// If it is interrupted at any point, either the damaged file is still in place, or everything that
/// was read from it is in `Location.rescuedPath`, and the next process that opens the file finishes
/// the rest.
enum Rescue {
  /// - Returns: The number of outgoing messages that were saved.
  static func moveAside(_ location: Location) throws(ArchiveError) -> Int {
    let outbox = readOutbox(location)
    let drafts = readDrafts(location)
    try make(Location(path: location.partialPath), with: outbox, drafts)
    try location.rename(location.partialPath, to: location.rescuedPath)
    location.syncFolder()
    try finish(location)
    return outbox.count
  }

  /// Finishes a rescue that was interrupted, if there is one.
  static func finish(_ location: Location) throws(ArchiveError) {
    guard location.exists(location.rescuedPath) else { return }
    if location.exists(location.path) {
      location.remove("\(location.damagedPath)-wal")
      try location.rename(location.logPath, to: "\(location.damagedPath)-wal")
      try location.rename(location.path, to: location.damagedPath)
    }
    location.remove(location.logPath)
    location.remove(location.sharedMemoryPath)
    try location.rename(location.rescuedPath, to: location.path)
    location.syncFolder()
  }

  /// Returns the readable part of the outbox: reads forwards from the first row to the first error,
  /// then backwards from the last row.
  private static func readOutbox(_ location: Location) -> [Archive.Outgoing] {
    // Opened for writing, because otherwise the log is not read.
    guard let database = try? Database(path: location.path, mode: .readWrite) else { return [] }
    var found: [Int64: Archive.Outgoing] = [:]
    for order in ["ASC", "DESC"] {
      do throws(SQLiteError) {
        var select = try Statement(
          "SELECT \(Statements.outgoingColumns), position FROM outbox ORDER BY position \(order)",
          on: database)
        while try select.step() {
          let outgoing = Archive.Outgoing(row: select)
          if isWhole(outgoing) { found[select.integer(10)] = outgoing }
        }
      } catch {
        continue
      }
    }
    return found.sorted { $0.key < $1.key }.map(\.value)
  }

  /// Returns the readable drafts, the one that was changed first at the beginning.
  private static func readDrafts(_ location: Location) -> [(room: String, text: String)] {
    guard let database = try? Database(path: location.path, mode: .readWrite) else { return [] }
    var drafts: [(room: String, text: String)] = []
    do throws(SQLiteError) {
      var select = try Statement("SELECT room, text FROM drafts ORDER BY version", on: database)
      while try select.step() { drafts.append((select.text(0), select.text(1))) }
    } catch {
      // What was read until then.
    }
    return drafts
  }

  /// The first revision of the new file is one of these: processes that have read the old one do
  /// not take its drafts for these.
  private static let revisions: Range<Int64> = 1 << 32..<1 << 48

  /// Whether the relay could decode the message, and so whether it is intact.
  private static func isWhole(_ outgoing: Archive.Outgoing) -> Bool {
    let json = ClientMessage.send(outgoing.send).json
    return (try? ClientMessage(decoding: json.span, textLimitBytes: 0)) != nil
  }

  private static func make(
    _ location: Location, with outbox: [Archive.Outgoing],
    _ drafts: [(room: String, text: String)]
  ) throws(ArchiveError) {
    for path in [location.path, location.logPath, location.sharedMemoryPath] {
      location.remove(path)
    }
    try location.createFile()
    do {
      let store = try Store(location)
      try store.durableTransaction { (store) throws(SQLiteError) in
        for outgoing in outbox { try store.insert(outgoing, owner: 0) }
        let first = Int64.random(in: revisions)
        try store.database.execute("UPDATE revisions SET last = \(first)")
        for draft in drafts {
          _ = try store.keep(draft: draft.text, of: draft.room, inPlaceOf: nil)
        }
      }
      // Moves everything into the one file that is renamed.
      let progress = try store.database.checkpoint(.truncate)
      guard !progress.isHeldUp else {
        throw ArchiveError(.environment, "The file \(location.path) is locked by another program.")
      }
    } catch let error as SQLiteError {
      throw ArchiveError(error, path: location.path)
    } catch let error as ArchiveError {
      throw error
    } catch {
      preconditionFailure("no other error is thrown above: \(error)")
    }
    location.remove(location.logPath)
    location.remove(location.sharedMemoryPath)
  }
}
