public import Moderation
public import Wire

/// A store that keeps rooms and entries in memory.
public struct MemoryStore: EntryStore, EntryReader {
  struct Room {
    var name: String
    /// The `seq` of the first of them is `first`.
    var entries: [Entry] = []
    /// `others` and `content` of each entry; see `StoreChanges.NewEntry`.
    var predecessors: [(others: Int64, content: Int64)] = []
    var first: Int64 = 1
    /// The epochs of its entries, ascending; the entries after `after` are of the epoch.
    var epochs: [(number: Int64, after: Int64)] = []
    var members: CompactDictionary<String, MemberMarks> = [:]
    var rules: RoomRules?
    var standings: [String: Standing] = [:]
    var direct = DirectState()
    var identities: [Identity: Int64] = [:]
    /// The state of the entries that changes refer to, by their `seq`.
    var targets: [Int64: Target] = [:]
    /// The `seq` of each change, and the number of changes before the first of these.
    var changeSeqs: [Int64] = []
    var forgottenChanges: Int64 = 0

    /// The edits and reactions of one entry.
    struct Target {
      /// The `seq` of each edit, ascending.
      var edits: [Int64] = []
      /// The users who currently give each emoji, with the `seq` of their reaction, ascending.
      var reactions: [String: [(user: String, seq: Int64)]] = [:]

      mutating func record(_ entry: Entry) {
        if entry.kind == .edit { edits.append(entry.seq) }
        guard let (emoji, isOn) = entry.reaction else { return }
        let index = reactions[emoji]?.firstIndex { $0.user == entry.from }
        if isOn, index == nil {
          reactions[emoji, default: []].append((entry.from, entry.seq))
        } else if !isOn, let index {
          reactions[emoji]?.remove(at: index)
          if reactions[emoji]?.isEmpty == true { reactions[emoji] = nil }
        }
      }
    }

    var head: Int64 { first + Int64(entries.count) - 1 }

    func entry(_ seq: Int64) -> Entry? {
      seq >= first && seq - first < entries.count ? entries[Int(seq - first)] : nil
    }

    /// The last entry's sender and run.
    var last: LastSenders {
      var last = LastSenders()
      guard let entry = entries.last else { return last }
      last.sender = entry.from
      last.others = predecessors[entries.count - 1].others
      last.content = contentRun(endingAt: entry.seq) ?? ContentRun()
      return last
    }

    func contentRun(endingAt seq: Int64) -> ContentRun? {
      guard let entry = entry(seq) else { return nil }
      let content = predecessors[Int(seq - first)].content
      return entry.kind.isContent
        ? ContentRun(last: seq, sender: entry.from, others: content)
        : contentRun(endingAt: content)
    }

    /// Returns the number of `changeSeqs` up to `seq`.
    func changes(through seq: Int64) -> Int {
      changeSeqs.partitioningIndex { $0 > seq }
    }
  }
  struct Identity: Hashable {
    var sender: String
    var id: String
  }

  private(set) var rooms: [Int64: Room] = [:]
  private(set) var numbers: [String: Int64] = [:]
  private var roomsByMember: [String: Set<Int64>] = [:]
  private var seen: [String: Int64] = [:]
  private var allBlocks = BlockTable()
  private var allBans: [String: BanChange] = [:]
  /// By the `seq` of their records.
  private var reports: [Int64: ReportChange] = [:]
  var fileBook = FileBook()

  public let identityKey: EntryIdentity.Key
  /// The number of the epoch to which new entries belong.
  package var epoch: Int64 = 1

  private let membersLimit: Int

  /// Creates an empty store.
  /// - Parameters:
  ///   - identityKey: has to be random if clients choose the ids.
  ///   - membersLimit: the number of members up to which a room is returned with all of them.
  public init(
    identityKey: EntryIdentity.Key = .none, membersLimit: Int = StoredRoom.membersLimit
  ) {
    self.identityKey = identityKey
    self.membersLimit = membersLimit
  }

  public mutating func loadRoom(_ name: String) throws(StoreFailure) -> StoredRoom? {
    guard let number = numbers[name], let room = rooms[number] else { return nil }
    var stored = StoredRoom(
      number: number, head: room.head, first: room.first,
      lastAt: room.entries.last?.at ?? 0, members: room.members,
      changes: room.forgottenChanges + Int64(room.changeSeqs.count), last: room.last)
    stored.rules = room.rules
    stored.direct = room.direct
    if room.members.count > membersLimit {
      stored.members = [:]
      stored.members[room.last.sender] = room.members[room.last.sender]
      stored.otherMembers = room.members.count - stored.members.count
    }
    return stored
  }

  public mutating func nextRoomNumber() throws(StoreFailure) -> Int64 {
    Int64(numbers.count + 1)
  }

  public mutating func find(
    _ identity: EntryIdentity, room: Int64, named name: String, sender: String, id: String
  ) throws(StoreFailure) -> Entry? {
    guard let room = rooms[room],
      let seq = room.identities[Identity(sender: sender, id: id)]
    else { return nil }
    return room.entry(seq)
  }

  public mutating func lastEntry(
    ofRoom room: Int64, throughEpoch number: Int64
  ) throws(StoreFailure) -> (seq: Int64, epoch: Int64)? {
    guard let room = rooms[room], let place = room.epochs.lastIndex(where: { $0.number <= number })
    else { return nil }
    let seq = place + 1 < room.epochs.count ? room.epochs[place + 1].after : room.head
    return seq < room.first ? nil : (seq, room.epochs[place].number)
  }

  public mutating func lastSeq(
    ofRoom room: Int64, in seqs: ClosedRange<Int64>, throughEpoch number: Int64
  ) throws(StoreFailure) -> Int64? {
    try lastEntry(ofRoom: room, throughEpoch: number)?.seq
  }

  public mutating func entry(
    _ seq: Int64, ofRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry? {
    rooms[number]?.entry(seq)
  }

  public mutating func lastEdit(
    of target: Int64, through seq: Int64, inRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry? {
    guard let room = rooms[number],
      let seq = room.targets[target]?.edits.last(where: { $0 <= seq })
    else { return nil }
    return room.entry(seq)
  }

  public mutating func editCount(
    of target: Int64, inRoom number: Int64, upTo limit: Int
  ) throws(StoreFailure) -> Int {
    min(limit, rooms[number]?.targets[target]?.edits.count ?? 0)
  }

  public mutating func emoji(
    of target: Int64, inRoom number: Int64, by user: String?, upTo limit: Int
  ) throws(StoreFailure) -> Set<String> {
    let reactions = rooms[number]?.targets[target]?.reactions ?? [:]
    return Set(
      reactions.lazy.filter { given in
        user.map { user in given.value.contains { $0.user == user } } ?? true
      }.map(\.key).prefix(limit))
  }

  public mutating func firstTarget(
    inRoom number: Int64, in seqs: ClosedRange<Int64>
  ) throws(StoreFailure) -> Int64? {
    guard let room = rooms[number], !room.targets.isEmpty else { return nil }
    return seqs.first { room.targets[$0] != nil }
  }

  public mutating func reactions(
    to target: Int64, inRoom number: Int64
  ) throws(StoreFailure) -> [(emoji: String, users: Int64)] {
    var reactions = (rooms[number]?.targets[target]?.reactions ?? [:]).map {
      (emoji: $0.key, users: Int64($0.value.count), first: $0.value[0].seq)
    }
    if reactions.count > Reaction.emojiLimit {
      reactions.sort { $0.emoji.utf8.lexicographicallyPrecedes($1.emoji.utf8) }
      reactions.removeLast(reactions.count - Reaction.emojiLimit)
    }
    return reactions.sorted { $0.first < $1.first }.map { ($0.emoji, $0.users) }
  }

  public mutating func forEachUser(
    giving emoji: String, to target: Int64, inRoom number: Int64,
    _ body: (_ user: String, _ seq: Int64) -> Bool
  ) throws(StoreFailure) {
    for (user, seq) in rooms[number]?.targets[target]?.reactions[emoji] ?? [] {
      guard body(user, seq) else { return }
    }
  }

  public mutating func changes(
    inRoom number: Int64, through seq: Int64
  ) throws(StoreFailure) -> Int64 {
    try changes(inRoom: number, through: seq, total: 0)
  }

  public mutating func changes(
    inRoom number: Int64, through seq: Int64, total: Int64
  ) throws(StoreFailure) -> Int64 {
    guard let room = rooms[number] else { return 0 }
    return room.forgottenChanges + Int64(room.changes(through: seq))
  }

  public mutating func contentRun(
    endingAt seq: Int64, inRoom number: Int64
  ) throws(StoreFailure) -> ContentRun? {
    rooms[number]?.contentRun(endingAt: seq)
  }

  public mutating func memberships(
    of user: String, after number: Int64, limit: Int
  ) throws(StoreFailure) -> [StoredMembership] {
    // Only tests ask more than once per user, so sorting all of them each time is acceptable.
    let numbers = (roomsByMember[user] ?? []).filter { $0 > number }.sorted().prefix(limit)
    return numbers.compactMap { membership(of: user, $0) }
  }

  public mutating func membership(
    of user: String, toRoom name: String
  ) throws(StoreFailure) -> StoredMembership? {
    numbers[name].flatMap { membership(of: user, $0) }
  }

  private func membership(of user: String, _ number: Int64) -> StoredMembership? {
    guard let room = rooms[number] else { return nil }
    var membership = StoredMembership(
      number: number, room: room.name, head: room.head,
      first: room.first, lastAt: room.entries.last?.at ?? 0,
      changes: room.forgottenChanges + Int64(room.changeSeqs.count), marks: room.members[user])
    membership.direct = room.direct
    return membership
  }

  public mutating func membershipCount(of user: String) throws(StoreFailure) -> Int {
    var count = roomsByMember[user]?.count ?? 0
    for room in rooms.values {
      if room.standings[user]?.inviter != nil { count -= 1 }
      count += room.standings.values.count { $0.inviter == user }
    }
    return count
  }

  public mutating func commit(_ changes: StoreChanges) throws(StoreFailure) {
    for (number, name) in changes.newRooms {
      rooms[number] = Room(name: name)
      numbers[name] = number
    }
    for new in changes.entries {
      let entry = new.entry
      if rooms[new.room]?.epochs.last?.number != epoch {
        rooms[new.room]?.epochs.append((epoch, entry.seq - 1))
      }
      rooms[new.room]?.entries.append(entry)
      rooms[new.room]?.predecessors.append((new.others, new.content))
      rooms[new.room]?.identities[Identity(sender: entry.from, id: entry.id)] = entry.seq
      _ = rooms[new.room]?.members[entry.from]?.recordSend(entry.seq, others: new.others)
      if let change = new.change {
        if change.target > 0 {
          rooms[new.room]?.targets[change.target, default: .init()].record(entry)
        }
        rooms[new.room]?.changeSeqs.append(entry.seq)
      }
    }
    for (number, seq, body) in changes.redactions {
      guard let first = rooms[number]?.first, seq >= first else { continue }
      rooms[number]?.entries[Int(seq - first)].body = body
      for edit in rooms[number]?.targets[seq]?.edits ?? [] {
        rooms[number]?.entries[Int(edit - first)].body = Entry.deletedEditBody(of: seq)
      }
    }
    for (user, at, _) in changes.seen { seen[user] = at }
    for user in changes.erasedUsers { seen[user] = nil }
    for (number, user) in changes.formerMembers {
      rooms[number]?.members[user] = nil
      roomsByMember[user]?.remove(number)
    }
    for (number, user, marks, _) in changes.members {
      rooms[number]?.members[user] = marks
      roomsByMember[user, default: []].insert(number)
    }
    for (number, rules) in changes.rules { rooms[number]?.rules = rules }
    for number in changes.cleared { rooms[number]?.standings = [:] }
    for (number, user, standing) in changes.standings {
      rooms[number]?.standings[user] = standing == .unnamed ? nil : standing
    }
    for (number, state) in changes.directs { rooms[number]?.direct = state }
    for change in changes.blocks { allBlocks.apply(change) }
    for change in changes.bans { allBans[change.user] = change.isBanned ? change : nil }
    for report in changes.reports {
      if report.hasCopy {
        reports[report.report] = report
      } else {
        reports[report.report]?.hasCopy = false
      }
    }
    if let first = changes.firstReport { reports = reports.filter { $0.key >= first } }
    recordFiles(changes)
    for (number, first) in changes.trims { trim(number, to: first) }
  }

  private mutating func trim(_ number: Int64, to first: Int64) {
    guard var room = rooms.removeValue(forKey: number) else { return }
    let count = Int(first - room.first)
    for entry in room.entries.prefix(count) {
      room.identities[Identity(sender: entry.from, id: entry.id)] = nil
    }
    // Changes come after their target, and no caller asks for those of a target that is gone.
    for target in room.first..<first { room.targets[target] = nil }
    let forgotten = room.changes(through: first - 1)
    room.changeSeqs.removeFirst(forgotten)
    room.forgottenChanges += Int64(forgotten)
    room.entries.removeFirst(count)
    room.predecessors.removeFirst(count)
    room.first = first
    rooms[number] = room
  }

  public mutating func room(_ name: String) throws(StoreFailure) -> ReadableRoom? {
    guard let stored = try loadRoom(name) else { return nil }
    var room = ReadableRoom(
      number: stored.number, first: stored.first, head: stored.head, rules: stored.rules)
    room.direct = stored.direct
    return room
  }

  public mutating func standing(
    of user: String, inRoom number: Int64
  ) throws(StoreFailure) -> Standing {
    rooms[number]?.standings[user] ?? .unnamed
  }

  public mutating func copies(
    ofRoom number: Int64, in seqs: ClosedRange<Int64>
  ) throws(StoreFailure) -> [Int64] {
    reports.values.filter { $0.room == number && seqs.contains($0.seq) && $0.hasCopy }
      .map(\.report).sorted()
  }

  public mutating func copies(before at: Int64, limit: Int) throws(StoreFailure) -> [Int64] {
    Array(reports.values.filter { $0.at < at && $0.hasCopy }.map(\.report).sorted().prefix(limit))
  }

  public mutating func reports(
    ofRoom number: Int64, limit: Int
  ) throws(StoreFailure) -> [Int64] {
    Array(reports.values.filter { $0.room == number }.map(\.report).sorted(by: >).prefix(limit))
  }

  public mutating func blocks() throws(StoreFailure) -> BlockTable { allBlocks }

  public mutating func bans() throws(StoreFailure) -> [BanChange] { Array(allBans.values) }

  public mutating func members(
    ofRoom number: Int64, limit: Int
  ) throws(StoreFailure) -> [String] {
    Array((rooms[number]?.members ?? [:]).keys.prefix(limit))
  }

  public mutating func notice(
    inRoom number: Int64, in seqs: ClosedRange<Int64>, last: Bool
  ) throws(StoreFailure) -> Int64? {
    guard let room = rooms[number] else { return nil }
    func isNotice(_ seq: Int64) -> Bool { room.entry(seq)?.kind.isNotice == true }
    return last ? seqs.last(where: isNotice) : seqs.first(where: isNotice)
  }

  public mutating func forEachEntry(
    ofRoom number: Int64, named name: String, in seqs: ClosedRange<Int64>, _ body: (Entry) -> Bool
  ) throws(StoreFailure) {
    guard let room = rooms[number] else { return }
    for seq in seqs where seq >= room.first && seq < room.first + Int64(room.entries.count) {
      guard body(room.entries[Int(seq - room.first)]) else { return }
    }
  }

  public mutating func lastSeen(_ user: String) throws(StoreFailure) -> Int64? { seen[user] }

  public mutating func users(after user: String, limit: Int) throws(StoreFailure) -> [String] {
    Array(seen.keys.filter { $0 > user }.sorted().prefix(limit))
  }
}

extension Collection {
  /// Returns the first index from which `belongs` holds, for a collection that is sorted by it.
  package func partitioningIndex(where belongs: (Element) -> Bool) -> Index {
    var start = startIndex
    var count = self.count
    while count > 0 {
      let half = count / 2
      let middle = index(start, offsetBy: half)
      if belongs(self[middle]) {
        count = half
      } else {
        start = index(after: middle)
        count -= half + 1
      }
    }
    return start
  }
}
