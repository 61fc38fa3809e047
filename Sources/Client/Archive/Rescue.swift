internal import SQLite
internal import Wire

/// What becomes of a damaged file: it is moved aside, and a new one takes its place with what was to be
/// sent. To be called by the only process that has the file open or could open it.
///
/// Whenever it is cut short, either the damaged file is where it was, or all that was read from it is in
/// `Location.rescuedPath`, and the rest is done by the next one who opens the file.
enum Rescue {
  /// - Returns: how many outgoing messages were saved.
  static func moveAside(_ location: Location) throws(ArchiveError) -> Int {
    let outbox = readOutbox(location)
    try make(Location(path: location.partialPath), with: outbox)
    try location.rename(location.partialPath, to: location.rescuedPath)
    location.syncFolder()
    try finish(location)
    return outbox.count
  }

  /// Does what is left of one that was cut short, if anything.
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

  /// What can be read of the outbox: from the front as far as it goes, and from the end.
  private static func readOutbox(_ location: Location) -> [Archive.Outgoing] {
    // With the right to write: otherwise the log is not read.
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

  /// Whether the relay could read it, so that it is what was once written.
  private static func isWhole(_ outgoing: Archive.Outgoing) -> Bool {
    let json = ClientMessage.send(outgoing.send).json
    return (try? ClientMessage(decoding: json.span, textLimitBytes: 0)) != nil
  }

  private static func make(
    _ location: Location, with outbox: [Archive.Outgoing]
  ) throws(ArchiveError) {
    for path in [location.path, location.logPath, location.sharedMemoryPath] {
      location.remove(path)
    }
    try location.createFile()
    do {
      let store = try Store(location)
      try store.durableTransaction { (store) throws(SQLiteError) in
        for outgoing in outbox { try store.insert(outgoing) }
      }
      // Into the one file that is moved.
      let progress = try store.database.checkpoint(.truncate)
      guard !progress.isHeldUp else {
        throw ArchiveError(.environment, "The file \(location.path) is held by another program.")
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
