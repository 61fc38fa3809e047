internal import SQLite
internal import Wire

extension Store {
  func rooms() throws(SQLiteError) -> [Archive.Room] {
    var rooms: [(Archive.Room, Extent)] = []
    defer { statements.selectRooms.reset() }
    while try statements.selectRooms.step() {
      var room = Archive.Room(
        room: statements.selectRooms.text(0), title: statements.selectRooms.text(1),
        peer: statements.selectRooms.optionalText(2))
      room.isBot = statements.selectRooms.flag(3)
      room.isMember = statements.selectRooms.flag(4)
      room.head = statements.selectRooms.integer(5)
      room.read = statements.selectRooms.integer(6)
      room.unread = statements.selectRooms.integer(7)
      room.notifications = statements.selectRooms.integer(8)
      room.isPinned = statements.selectRooms.flag(15)
      room.isMarkedUnread = statements.selectRooms.flag(16)
      room.marks = statements.selectRooms.text(13).split(separator: "\n").compactMap(
        Archive.Marks.init(line:))
      room.epoch = statements.selectRooms.optionalText(9)
      let extent = Extent(
        epochs: Archive.Epochs(current: room.epoch, lineage: statements.selectRooms.text(14)),
        range: statements.selectRooms.integer(10),
        first: statements.selectRooms.integer(11), latest: statements.selectRooms.integer(12))
      room.head = max(room.head, extent.latest)
      room.latest = extent.isEmpty ? 0 : extent.latest
      room.first = extent.isEmpty ? room.head + 1 : extent.first
      rooms.append((room, extent))
    }
    return try rooms.map { (room, extent) throws(SQLiteError) in
      var room = room
      room.last = try lastMessage(of: room.room, extent)
      return room
    }
  }

  /// - Parameter base: See `Archive.SharedState.merged`.
  func save(_ room: Archive.Room, since base: Archive.SharedState?) throws(SQLiteError) {
    try statements.upsertRoom.bind(1, room.room)
    try statements.upsertRoom.bind(2, room.title)
    try statements.upsertRoom.bind(3, room.peer)
    try statements.upsertRoom.bind(4, room.isBot)
    try statements.upsertRoom.bind(5, room.isMember)
    try statements.upsertRoom.bind(6, room.head)
    try statements.upsertRoom.bind(7, room.marks.map(\.line).joined(separator: "\n"))
    try statements.upsertRoom.run()
    try save(Archive.SharedState(room), since: base)
  }

  func names() throws(SQLiteError) -> [String: String] {
    var names: [String: String] = [:]
    defer { statements.selectNames.reset() }
    while try statements.selectNames.step() {
      names[statements.selectNames.text(0)] = statements.selectNames.text(1)
    }
    return names
  }

  func save(_ names: [String: String]) throws(SQLiteError) {
    for (user, name) in names {
      try statements.upsertName.bind(1, user)
      try statements.upsertName.bind(2, name)
      try statements.upsertName.run()
    }
  }

  private func lastMessage(of room: String, _ extent: Extent) throws(SQLiteError) -> Entry? {
    try statements.selectLast.bind(1, extent.range)
    try statements.selectLast.bind(2, extent.first)
    try statements.selectLast.bind(3, extent.latest)
    defer { statements.selectLast.reset() }
    guard try statements.selectLast.step() else { return nil }
    return try fold([Self.entry(of: room, from: statements.selectLast)], extent).first
  }

  /// Returns the newest entries that are shown, before `before`, folded, in ascending `seq`.
  func shown(
    of room: String, _ extent: Extent, before: Int64, limit: Int
  ) throws(SQLiteError) -> [Entry] {
    var entries: [Entry] = []
    try statements.selectShown.bind(1, extent.range)
    try statements.selectShown.bind(2, extent.first)
    try statements.selectShown.bind(3, min(before, extent.latest + 1))
    try statements.selectShown.bind(4, Int64(limit))
    defer { statements.selectShown.reset() }
    while try statements.selectShown.step() {
      entries.append(Self.entry(of: room, from: statements.selectShown))
    }
    entries.reverse()
    return try fold(entries, extent)
  }

  /// Returns one entry, folded; `nil` if it is not kept.
  func entry(of room: String, _ extent: Extent, seq: Int64) throws(SQLiteError) -> Entry? {
    guard seq >= extent.first, seq <= extent.latest else { return nil }
    try statements.selectEntry.bind(1, extent.range)
    try statements.selectEntry.bind(2, seq)
    defer { statements.selectEntry.reset() }
    guard try statements.selectEntry.step() else { return nil }
    return try fold([Self.entry(of: room, from: statements.selectEntry)], extent).first
  }

  func contentCount(
    _ extent: Extent, after: Int64, notFrom user: String
  ) throws(SQLiteError) -> Int64 {
    try statements.countContents.bind(1, extent.range)
    try statements.countContents.bind(2, after)
    try statements.countContents.bind(3, extent.latest)
    try statements.countContents.bind(4, user)
    defer { statements.countContents.reset() }
    return try statements.countContents.step() ? statements.countContents.integer(0) : 0
  }

  /// - Parameter entries: Entries of one room, in ascending `seq`.
  func fold(_ entries: [Entry], _ extent: Extent) throws(SQLiteError) -> [Entry] {
    guard let first = entries.first, let last = entries.last else { return [] }
    try statements.selectChanges.bind(1, extent.range)
    try statements.selectChanges.bind(2, first.seq)
    try statements.selectChanges.bind(3, last.seq)
    try statements.selectChanges.bind(4, extent.first)
    try statements.selectChanges.bind(5, extent.latest)
    defer { statements.selectChanges.reset() }
    var changes: [Int64: [Entry]] = [:]
    while try statements.selectChanges.step() {
      changes[statements.selectChanges.integer(6), default: []]
        .append(Self.entry(of: first.room, from: statements.selectChanges))
    }
    return changes.isEmpty ? entries : entries.map { $0.folded(with: changes[$0.seq] ?? []) }
  }

  /// Decodes a row that begins with `Statements.columns`.
  static func entry(of room: String, from row: borrowing Statement) -> Entry {
    Entry(
      room: room, seq: row.integer(0), id: row.text(3), from: row.text(2), at: row.integer(1),
      kind: EntryKind(rawValue: row.text(4)), body: row.blob(5))
  }
}
