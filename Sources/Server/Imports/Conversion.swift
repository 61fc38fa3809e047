import Emojis
import Moderation
import Relay
import Wire

/// The export of another chat as the lines of an export of a relay, which `relay import` imports like those
/// of its own. Of a room it holds the members, and 16 bytes of each message.
struct Conversion<Source: ForeignExport> {
  private var source: Source
  private let selection: RoomSelection
  private let existing: Set<String>
  private var names: PeopleNames
  private var roomNames = FoldedNames.rooms(taken: [])
  private let epoch: String
  private let latestAt: Int64
  private(set) var report = ImportReport()
  private var room: Room?
  private var roomCount = 0
  private var begun: Set<String> = []
  private var lines: ArraySlice<[UInt8]> = []

  /// A room that is being converted.
  private struct Room {
    var name: String
    var foreign: ForeignRoom
    var isPrivate: Bool
    var isDirect: Bool
    /// Users.
    var members: [String] = []
    var owner: String?
    var head: Int64 = 0
    var lastAt: Int64 = 0
    var standings: [StandingLine] = []
    var settings: RoomSettings?
    /// The first entries of messages that are replied to, by their keys.
    var places: [Int64: Int64] = [:]
    var senders: Set<String> = []
    /// The keys of its messages.
    var keys: Set<Int64> = []
  }

  /// - Parameters:
  ///   - existing: the rooms of the store.
  ///   - now: in milliseconds since 1970.
  init(
    _ source: Source, people: PeopleTable, selection: RoomSelection, existing: Set<String>,
    now: Int64
  ) throws(UnreadableExport) {
    self.source = source
    self.selection = selection
    self.existing = existing
    names = PeopleNames(table: people.users)
    latestAt = now + ImportLimits.clockMilliseconds
    var random = SystemRandomNumberGenerator()
    epoch = Lineage.randomName(using: &random)
    for person in source.people { _ = names.user(person.key, named: person.name) }
  }

  /// Returns the next line, without its line break; `nil` after the last.
  mutating func nextLine() throws(UnreadableExport) -> [UInt8]? {
    while true {
      if let line = lines.popFirst() { return line }
      lines = []
      if room != nil {
        if let messages = try source.nextMessages(&names) {
          for message in messages { append(message) }
        } else {
          endRoom()
        }
      } else if let next = try source.nextRoom() {
        begin(next)
      } else {
        finishReport()
        return nil
      }
      guard names.count <= ImportLimits.people, roomCount <= ImportLimits.rooms else {
        throw UnreadableExport(
          "The export",
          "has more than \(ImportLimits.people) people or \(ImportLimits.rooms) rooms")
      }
    }
  }

  // MARK: Rooms

  private mutating func begin(_ foreign: ForeignRoom) {
    roomCount += 1
    let members = foreign.members.map { names.user($0) }
    var next = Room(name: "", foreign: foreign, isPrivate: false, isDirect: false)
    var unique: Set<String> = []
    next.members = members.filter { unique.insert($0).inserted }
    switch foreign.access {
    case .unknown(let reason): return report.leaveOut(foreign.name, because: reason)
    case .direct:
      guard next.members.count == 2 else {
        return report.leaveOut(foreign.name, because: "a conversation is between two users here")
      }
      next.isDirect = true
      next.name = RoomName.direct(next.members[0], next.members[1])
    case .open, .private:
      if case .private = foreign.access { next.isPrivate = true }
      if next.isPrivate, next.members.isEmpty {
        return report.leaveOut(foreign.name, because: "it is private, and no members are listed")
      }
      next.name = roomNames.add(foreign.name)
      let owners = foreign.owners.map { names.user($0) }
      // Who has left a private room does not come back as its owner.
      next.owner =
        next.isPrivate ? owners.first(where: unique.contains) ?? next.members[0] : owners.first
    }
    guard let chosen = selection.room(foreign.name, folded: next.name) else {
      return report.leaveOut(foreign.name, because: "--rooms does not name it")
    }
    if !next.isDirect { next.name = chosen }
    guard !existing.contains(next.name) else {
      return report.leaveOut(
        foreign.name, because: "the store already has a room \(next.name)")
    }
    guard begun.insert(next.name).inserted else {
      return report.leaveOut(foreign.name, because: "another room becomes \(next.name)")
    }
    guard next.isDirect || next.members.count <= EntryLimits().membersPerRoom || !next.isPrivate
    else {
      return report.leaveOut(
        foreign.name,
        because: "it is private, and has more than \(EntryLimits().membersPerRoom) members")
    }
    room = next
  }

  /// Makes the rules of a room with its first message, since they are as old.
  private mutating func makeRules(at time: Int64) {
    guard let room, let owner = room.owner else { return }
    var change = RoomSettings.Change()
    let title = room.foreign.title.isEmpty ? room.foreign.name : room.foreign.title
    if title != room.name { change.title = ForeignText.label(title, limit: 100) }
    change.topic = ForeignText.label(room.foreign.topic, limit: 1000)
    change.access = room.isPrivate ? .private : .open
    var settings = RoomSettings()
    settings.apply(change)
    self.room?.settings = settings
    add(.init(room: room.name, id: "import-settings", settings: change), from: owner, at: time)
    stand(owner, as: .owner)
    guard room.isPrivate else { return }
    for (number, user) in room.members.enumerated() where user != owner {
      let member = MemberChange(user: user, role: .member)
      add(
        .init(room: room.name, id: "import-member-\(number)", member: member), from: owner, at: time
      )
      stand(user, as: .member)
    }
  }

  private mutating func stand(_ user: String, as role: Role) {
    guard let name = room?.name, let head = room?.head else { return }
    room?.standings.append(
      StandingLine(room: name, user: user, standing: Standing(base: role, since: head)))
  }

  /// Everything of an import has been read by all.
  private mutating func endRoom() {
    guard let room else { return }
    self.room = nil
    guard room.head > 0 else {
      return report.leaveOut(room.foreign.name, because: "it has no messages")
    }
    func append(_ write: (inout [UInt8]) -> Void) {
      var line: [UInt8] = []
      write(&line)
      line.removeLast()
      lines.append(line)
    }
    // A user of an open room who has left it stays known, so that an account of that name is given to no one
    // else (`Store.knows`). In a private room this would let them in.
    let outsiders = room.isPrivate ? [] : room.senders.subtracting(room.members).sorted()
    let members = room.members + outsiders
    for user in members {
      append {
        MarksLine(
          room: room.name, user: user, read: room.head, received: room.head, since: room.head
        ).append(to: &$0)
      }
    }
    if let settings = room.settings {
      append { RulesLine(room: room.name, settings: settings.change.body).append(to: &$0) }
    }
    for standing in room.standings { append { standing.append(to: &$0) } }
    report.add(
      .init(
        foreign: room.foreign.name, room: room.name, entries: room.head, members: members.count,
        access: room.isDirect ? "direct" : room.isPrivate ? "private" : "open"))
  }

  // MARK: Messages

  private mutating func append(_ message: ForeignMessage) {
    func leaveOut(because reason: String) { report.omissions.add(reason, at: message.place) }
    guard message.at > 0, message.at <= latestAt else {
      return leaveOut(because: "their time is no time, or in the future")
    }
    let parts = ForeignText.parts(of: message.text)
    guard !parts.isEmpty else { return leaveOut(because: "they are empty") }
    guard room?.keys.insert(message.key).inserted == true else {
      return leaveOut(because: "they are there twice")
    }
    // No copy of the room, whose tables would be copied with the next change.
    guard let name = room?.name, let lastAt = room?.lastAt else { return }
    let sender = names.user(message.sender)
    let time = max(message.at, lastAt)
    if room?.head == 0 { makeRules(at: time) }
    let replyTo = message.replyTo.flatMap { room?.places[$0] }
    if message.replyTo != nil, replyTo == nil { report.lostReplies += 1 }
    let first = (room?.head ?? 0) + 1
    if message.isRepliedTo { room?.places[message.key] = first }
    room?.senders.insert(sender)
    for (index, part) in parts.enumerated() {
      add(
        .init(
          room: name, id: index == 0 ? message.id : "\(message.id).\(index + 1)",
          text: part, replyTo: index == 0 ? replyTo : nil),
        from: sender, at: time)
    }
    for (number, reaction) in message.reactions.prefix(EntryLimits().reactionsPerEntry).enumerated()
    {
      guard let emoji = Emoji.given(reaction.code) else {
        report.lostReactions += reaction.senders.count
        continue
      }
      var givers: Set<String> = []
      for giver in reaction.senders {
        let user = names.user(giver)
        guard givers.insert(user).inserted else { continue }
        add(
          .init(
            room: name, id: "\(message.id)-r\(number)", react: first, emoji: emoji,
            isOn: true),
          from: user, at: time)
      }
    }
    report.messages += 1
  }

  private mutating func add(_ send: ClientMessage.Send, from user: String, at time: Int64) {
    guard let head = room?.head else { return }
    room?.head = head + 1
    room?.lastAt = time
    var line: [UInt8] = []
    ExportLine(
      entry: Entry(
        room: send.room, seq: head + 1, id: send.id, from: user, at: time, kind: send.kind,
        body: send.body), epoch: epoch
    ).append(to: &line)
    line.removeLast()
    lines.append(line)
  }

  private mutating func finishReport() {
    report.renamed = names.renamed
    report.people = names.count
    report.unusedNames = names.unused.sorted()
    report.omissions.merge(source.omissions)
    report.missing = selection.names.filter { !report.foreignNames.contains($0) }
  }
}

extension Emoji {
  private static let byCode = Dictionary(all.map { ($0.code, $0.emoji) }) { first, _ in first }
  private static let tonePrefix = "skin-tone-"

  /// Returns the emoji of a short code, with a tone of skin as Slack writes it (`wave::skin-tone-3`); of
  /// another service's own emoji the code between colons. `nil` if that cannot be a reaction.
  fileprivate static func given(_ code: String) -> String? {
    let words = code.split(separator: ":").map(String.init)
    guard let name = words.first else { return nil }
    if let emoji = byCode[name] {
      guard words.count == 2, words[1].hasPrefix(tonePrefix),
        let tone = UInt32(words[1].dropFirst(tonePrefix.count)), (2...6).contains(tone),
        let modifier = Unicode.Scalar(0x1F3F9 + tone)
      else { return emoji }
      return emoji + String(Character(modifier))
    }
    let isPlain = name.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    return isPlain && name.utf8.count <= 62 ? ":\(name):" : nil
  }
}
