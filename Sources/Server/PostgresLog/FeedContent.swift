internal import Cluster
internal import Moderation
internal import Relay
internal import Wire

/// The content of a row of the feed: the changes of a batch, for the other nodes. Numbers are zigzag
/// LEB128, strings are preceded by their length in bytes. Rooms are named once.
enum FeedContent {
  /// Changes when older nodes cannot read it; nodes of both versions never share a store.
  private static let version: Int64 = 4

  /// The content is not what this version writes.
  struct Malformed: Error {}

  // MARK: - Writing

  static func encode(_ batch: FeedBatch) -> [UInt8] {
    var writer = Writer()
    writer.append(version)
    let (sequenced, changes, news) = (batch.sequenced, batch.sequenced.changes, batch.news)
    var names = sequenced.rooms
    for new in changes.entries where names[new.room] == nil { names[new.room] = new.entry.room }
    writer.append(names.sorted { $0.key < $1.key }) { writer, room in
      writer.append(room.key)
      writer.append(room.value)
    }
    writer.append(changes.newRooms) { writer, room in
      writer.append(room.number)
      writer.append(room.name)
    }
    writer.append(changes.entries) { $0.append($1) }
    writer.append(changes.members) { writer, member in
      writer.append(member.room)
      writer.append(member.user)
      writer.append(member.marks.read)
      writer.append(member.marks.received)
      writer.append(member.marks.sent)
      writer.append(member.head)
    }
    writer.append(changes.formerMembers) { writer, member in
      writer.append(member.room)
      writer.append(member.user)
    }
    writer.append(changes.trims) { writer, trim in
      writer.append(trim.room)
      writer.append(trim.first)
    }
    writer.append(changes.rules) { writer, rules in
      writer.append(rules.room)
      writer.append(String(decoding: rules.rules.settingsBody, as: UTF8.self))
      writer.append(Int64(rules.rules.counts.owners))
      writer.append(Int64(rules.rules.counts.members))
      writer.append(Int64(rules.rules.counts.barred))
    }
    writer.append(changes.standings) { writer, change in
      writer.append(change.room)
      writer.append(change.user)
      writer.append(change.standing.base.rawValue)
      writer.append(change.standing.banNumber)
      writer.append(change.standing.muteNumber)
      writer.append(change.standing.since)
      writer.append(change.standing.inviter ?? "")
    }
    writer.append(changes.directs) { writer, change in
      writer.append(change.room)
      writer.append(change.state.text)
    }
    writer.append(changes.blocks) { writer, change in
      writer.append(change.user)
      writer.append(change.blocked)
      writer.append(change.at ?? -1)
    }
    writer.append(changes.bans) { writer, change in
      writer.append(change.user)
      writer.append(change.isBanned ? change.until ?? 0 : -1)
    }
    writer.append(changes.cleared) { $0.append($1) }
    writer.append(sequenced.requests) { writer, change in
      writer.append(change.room)
      writer.append(change.user)
      writer.append(change.isOn ? 1 : 0)
    }
    writer.append(sequenced.marked) { writer, mark in
      writer.append(mark.room)
      writer.append(mark.user)
    }
    writer.append(sequenced.memberships) { writer, change in
      writer.append(change.room)
      writer.append(change.user)
      writer.append(change.belongs ? 1 : 0)
    }
    writer.append(sequenced.redactions) { writer, redaction in
      writer.append(redaction.room)
      writer.append(redaction.through)
    }
    writer.append(sequenced.typing) { writer, typing in
      writer.append(typing.room)
      writer.append(typing.user)
      writer.append(typing.on ? 1 : 0)
    }
    writer.append(news.presences) { writer, change in
      writer.append(change.user)
      writer.append(change.presence.rawValue)
    }
    writer.append(news.spending) { writer, spending in
      writer.append(spending.user)
      writer.append(Int64(spending.sends))
      writer.append(Int64(spending.requests))
      writer.append(Int64(spending.bytes))
      writer.append(Int64(spending.connections))
    }
    writer.append(news.hasAllPresences ? 1 : 0)
    writer.append(news.asksForPresences ? 1 : 0)
    return writer.bytes
  }

  private struct Writer {
    var bytes: [UInt8] = []

    mutating func append(_ value: Int64) {
      var rest = UInt64(bitPattern: value << 1 ^ value >> 63)
      while rest >= 0x80 {
        bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
        rest >>= 7
      }
      bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func append(_ text: String) {
      append(Int64(text.utf8.count))
      bytes.append(contentsOf: text.utf8)
    }

    mutating func append<Element>(
      _ elements: some Collection<Element>, _ append: (inout Writer, Element) -> Void
    ) {
      self.append(Int64(elements.count))
      for element in elements { append(&self, element) }
    }

    mutating func append(_ new: StoreChanges.NewEntry) {
      append(new.room)
      append(new.entry.seq)
      append(new.entry.id)
      append(new.entry.from)
      append(new.entry.at)
      append(new.entry.kind.rawValue)
      append(Int64(new.entry.body.count))
      bytes += new.entry.body
      append(new.others)
      append(new.content)
      append(new.change?.target ?? 0)
      append(new.change?.number ?? 0)
    }
  }

  // MARK: - Reading

  static func decode(_ bytes: [UInt8]) throws(Malformed) -> (SequencedBatch, NodeNews) {
    var reader = Reader(bytes: bytes[...])
    guard try reader.int() == version else { throw Malformed() }
    var changes = StoreChanges()
    var sequenced = SequencedBatch()
    var news = NodeNews()
    for _ in 0..<(try reader.count()) {
      let number = try reader.int()
      sequenced.rooms[number] = try reader.text()
    }
    for _ in 0..<(try reader.count()) {
      changes.newRooms.append((try reader.int(), try reader.text()))
    }
    for _ in 0..<(try reader.count()) {
      changes.entries.append(try reader.entry(sequenced.rooms))
    }
    for _ in 0..<(try reader.count()) {
      let (room, user) = (try reader.int(), try reader.text())
      let marks = MemberMarks(
        read: try reader.int(), received: try reader.int(), sent: try reader.int())
      changes.members.append((room, user, marks, try reader.int()))
    }
    for _ in 0..<(try reader.count()) {
      changes.formerMembers.append((try reader.int(), try reader.text()))
    }
    for _ in 0..<(try reader.count()) {
      changes.trims.append((try reader.int(), try reader.int()))
    }
    for _ in 0..<(try reader.count()) {
      let (room, settings) = (try reader.int(), Array(try reader.text().utf8))
      let counts = RoomRules.Counts(
        owners: Int(try reader.int()), members: Int(try reader.int()),
        barred: Int(try reader.int()))
      guard let rules = RoomRules(settings: settings, counts) else { throw Malformed() }
      changes.rules.append((room, rules))
    }
    for _ in 0..<(try reader.count()) {
      let (room, user, role) = (try reader.int(), try reader.text(), try reader.text())
      guard
        let standing = Standing(
          role: role, ban: try reader.int(), mute: try reader.int(), since: try reader.int(),
          inviter: try reader.text())
      else { throw Malformed() }
      changes.standings.append((room, user, standing))
    }
    for _ in 0..<(try reader.count()) {
      let room = try reader.int()
      guard let state = DirectState(text: try reader.text()) else { throw Malformed() }
      changes.directs.append((room, state))
    }
    for _ in 0..<(try reader.count()) {
      let (user, blocked, at) = (try reader.text(), try reader.text(), try reader.int())
      changes.blocks.append(BlockChange(user: user, blocked: blocked, at: at < 0 ? nil : at))
    }
    for _ in 0..<(try reader.count()) {
      let (user, until) = (try reader.text(), try reader.int())
      changes.bans.append(
        BanChange(user: user, isBanned: until >= 0, until: until > 0 ? until : nil))
    }
    for _ in 0..<(try reader.count()) { changes.cleared.append(try reader.int()) }
    for _ in 0..<(try reader.count()) {
      sequenced.requests.append(
        Commit.RequestChange(
          room: try reader.text(), user: try reader.text(), isOn: try reader.int() != 0))
    }
    for _ in 0..<(try reader.count()) {
      sequenced.marked.append((try reader.text(), try reader.text()))
    }
    for _ in 0..<(try reader.count()) {
      sequenced.memberships.append((try reader.text(), try reader.text(), try reader.int() != 0))
    }
    for _ in 0..<(try reader.count()) {
      sequenced.redactions.append(
        Commit.Redaction(room: try reader.text(), through: try reader.int()))
    }
    for _ in 0..<(try reader.count()) {
      sequenced.typing.append(
        Commit.TypingChange(
          room: try reader.text(), user: try reader.text(), on: try reader.int() != 0))
    }
    for _ in 0..<(try reader.count()) {
      let user = try reader.text()
      guard let presence = Presence(rawValue: try reader.text()) else { throw Malformed() }
      news.presences.append((user, presence))
    }
    for _ in 0..<(try reader.count()) {
      var spending = Spending(user: try reader.text())
      spending.sends = Int(try reader.int())
      spending.requests = Int(try reader.int())
      spending.bytes = Int(try reader.int())
      spending.connections = Int(try reader.int())
      news.spending.append(spending)
    }
    news.hasAllPresences = try reader.int() != 0
    news.asksForPresences = try reader.int() != 0
    sequenced.changes = changes
    return (sequenced, news)
  }

  private struct Reader {
    var bytes: ArraySlice<UInt8>

    mutating func int() throws(Malformed) -> Int64 {
      var value: UInt64 = 0
      for shift in stride(from: UInt64(0), through: 63, by: 7) {
        guard let byte = bytes.popFirst() else { throw Malformed() }
        value |= UInt64(byte & 0x7F) << shift
        if byte < 0x80 {
          return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
        }
      }
      throw Malformed()
    }

    /// The number of elements, or of bytes: each element has one at least.
    mutating func count() throws(Malformed) -> Int {
      let count = try int()
      guard count >= 0, count <= bytes.count else { throw Malformed() }
      return Int(count)
    }

    mutating func byteString() throws(Malformed) -> [UInt8] {
      let count = try count()
      defer { bytes.removeFirst(count) }
      return Array(bytes.prefix(count))
    }

    mutating func text() throws(Malformed) -> String {
      String(decoding: try byteString(), as: UTF8.self)
    }

    mutating func entry(_ names: [Int64: String]) throws(Malformed) -> StoreChanges.NewEntry {
      let room = try int()
      guard let name = names[room] else { throw Malformed() }
      let (seq, id, from, at) = (try int(), try text(), try text(), try int())
      let entry = Entry(
        room: name, seq: seq, id: id, from: from, at: at, kind: EntryKind(rawValue: try text()),
        body: try byteString())
      let (others, content, target, number) = (try int(), try int(), try int(), try int())
      return StoreChanges.NewEntry(
        room: room, identity: EntryIdentity(hash: 0), entry: entry,
        change: number == 0 ? nil : StoreChanges.Change(target: target, number: number),
        others: others, content: content)
    }
  }
}
