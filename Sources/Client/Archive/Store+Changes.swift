internal import SQLite
internal import Wire

extension Store {
  /// Writes the buffered changes. A change that does not fit what the file contains by now is
  /// skipped, so that a room's entries stay one contiguous range even if other processes write
  /// them, too.
  func write(_ changes: [Change], entriesLimit: Int64) throws(SQLiteError) -> Aftermath {
    try transaction { (store) throws(SQLiteError) in
      var writing = Writing(entriesLimit: entriesLimit)
      for change in changes { try writing.apply(change, to: store) }
      try writing.finish(store)
      return writing.aftermath
    }
  }
}

/// The state of one transaction: the rooms that it touches, read and written once each.
private struct Writing {
  let entriesLimit: Int64
  var aftermath = Aftermath()
  private var extents: [String: Store.Extent] = [:]
  private var changed: Set<String> = []

  init(entriesLimit: Int64) { self.entriesLimit = entriesLimit }

  mutating func apply(_ change: Change, to store: Store) throws(SQLiteError) {
    switch change {
    case .begin(let room, let epochs, let after): try begin(room, epochs, after, in: store)
    case .truncate(let room, let epochs, let after): try truncate(room, epochs, after, in: store)
    case .setEpoch(let room, let epochs):
      guard var extent = try extent(of: room, in: store), extent.epoch != nil else { return }
      extent.epochs = epochs
      set(extent, of: room)
    case .append(let entry, let epoch): try append(entry, epoch, to: store)
    case .save(let room, let base): try store.save(room, since: base)
    case .forget(let room):
      try store.delete(room)
      try store.deleteDrafts(of: room)
      extents[room] = nil
      changed.remove(room)
      aftermath.hasGarbage = true
      aftermath.hasDeletions = true
    case .names(let names): try store.save(names)
    case .acknowledge(let room, let id): try store.deleteOutgoing(room: room, id: id)
    }
  }

  mutating func finish(_ store: Store) throws(SQLiteError) {
    for room in changed {
      if let extent = extents[room] { try store.set(extent, of: room) }
    }
  }

  private mutating func extent(
    of room: String, in store: Store
  ) throws(SQLiteError) -> Store.Extent? {
    if let known = extents[room] { return known }
    let found = try store.extent(of: room)
    extents[room] = found
    return found
  }

  private mutating func set(_ extent: Store.Extent, of room: String) {
    extents[room] = extent
    changed.insert(room)
  }

  private mutating func begin(
    _ room: String, _ epochs: Archive.Epochs, _ after: Int64, in store: Store
  ) throws(SQLiteError) {
    try store.insertRoom(room)
    let rangesHere = extents.values.map(\.range).max() ?? 0
    let range = max(try store.lastRange(), rangesHere) + 1
    set(Store.Extent(epochs: epochs, range: range, first: after + 1, latest: after), of: room)
    aftermath.hasGarbage = true
  }

  private mutating func truncate(
    _ room: String, _ epochs: Archive.Epochs, _ after: Int64, in store: Store
  ) throws(SQLiteError) {
    guard var extent = try extent(of: room, in: store), extent.epoch != nil,
      after >= extent.first - 1
    else { return try begin(room, epochs, after, in: store) }
    extent.epochs = epochs
    if after < extent.latest {
      extent.latest = after
      aftermath.hasGarbage = true
    }
    set(extent, of: room)
  }

  private mutating func append(
    _ entry: Entry, _ epoch: String?, to store: Store
  ) throws(SQLiteError) {
    guard var extent = try extent(of: entry.room, in: store), extent.epoch != nil,
      epoch == nil || epoch == extent.epoch, entry.seq == extent.latest + 1
    else { return }
    try store.insert(entry, range: extent.range)
    aftermath.inserted += 1
    extent.latest = entry.seq
    if entry.kind == .delete, let target = entry.target,
      try store.redact(target, range: extent.range)
    {
      aftermath.hasDeletions = true
    }
    if extent.latest - extent.first >= entriesLimit {
      extent.first = extent.latest - entriesLimit + 1
      aftermath.hasGarbage = true
    }
    set(extent, of: entry.room)
  }
}

extension Store {
  fileprivate func delete(_ room: String) throws(SQLiteError) {
    try statements.deleteRoom.bind(1, room)
    try statements.deleteRoom.run()
  }

  fileprivate func insertRoom(_ room: String) throws(SQLiteError) {
    try statements.insertRoom.bind(1, room)
    try statements.insertRoom.run()
  }

  fileprivate func lastRange() throws(SQLiteError) -> Int64 {
    defer { statements.selectLastRange.reset() }
    return try statements.selectLastRange.step() ? statements.selectLastRange.integer(0) : 0
  }

  /// Inserts an older page directly before the first entry.
  /// - Returns: `nil` if it does not fit.
  func prepend(
    _ entries: [Entry], to room: String, epoch: String?, entriesLimit: Int64
  ) throws(SQLiteError) -> Aftermath? {
    guard let oldest = entries.first, let newest = entries.last else { return nil }
    for (index, entry) in entries.enumerated()
    where entry.room != room || entry.seq != oldest.seq + Int64(index) { return nil }
    return try transaction { (store) throws(SQLiteError) in
      guard var extent = try store.extent(of: room), extent.epoch != nil,
        epoch == nil || epoch == extent.epoch, newest.seq == extent.first - 1,
        extent.latest - oldest.seq < entriesLimit
      else { return nil }
      for entry in entries { try store.insert(entry, range: extent.range) }
      extent.first = oldest.seq
      try store.set(extent, of: room)
      // The page may have been in transit when these entries were deleted.
      var aftermath = Aftermath(inserted: entries.count)
      for target in try store.deletions(of: oldest.seq...newest.seq, in: extent) {
        if try store.redact(target, range: extent.range) { aftermath.hasDeletions = true }
      }
      return aftermath
    }
  }

  private func deletions(
    of targets: ClosedRange<Int64>, in extent: Extent
  ) throws(SQLiteError) -> [Int64] {
    try statements.selectDeletions.bind(1, extent.range)
    try statements.selectDeletions.bind(2, targets.lowerBound)
    try statements.selectDeletions.bind(3, targets.upperBound)
    try statements.selectDeletions.bind(4, extent.first)
    try statements.selectDeletions.bind(5, extent.latest)
    defer { statements.selectDeletions.reset() }
    var deleted: [Int64] = []
    while try statements.selectDeletions.step() {
      deleted.append(statements.selectDeletions.integer(0))
    }
    return deleted
  }
}
