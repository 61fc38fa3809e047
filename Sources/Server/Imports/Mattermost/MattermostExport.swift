import Glibc
import Wire

/// A bulk export of Mattermost: a line of JSON for each team, channel, user and post, with the replies in
/// the posts. https://docs.mattermost.com/onboard/bulk-loading-data.html
struct MattermostExport: ForeignExport {
  private(set) var people: [ForeignPerson] = []
  private(set) var omissions = Omissions()
  private var rooms: [ForeignRoom] = []
  /// Their places in `rooms`, by team and channel, or by the members.
  private var places: [[String]: Int32] = [:]
  private var teams: Set<String> = []
  private var spool: MessageSpool
  /// The file with the lines.
  private let file: String
  private var room: Int32 = -1
  private var next = 0
  private var lastID: (at: Int64, count: Int) = (0, 0)
  /// The numbers of messages that have replies.
  private var repliedTo: Set<UInt32> = []

  private static let version: Int64 = 1
  private static let messagesAtOnce = 100

  init(_ files: ExportFiles) throws(UnreadableExport) {
    let folder = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    spool = try MessageSpool(folder: folder)
    let names = files.names.count == 1 ? files.names : files.names.filter { $0.hasSuffix(".jsonl") }
    guard names.count == 1 else {
      throw UnreadableExport(
        files.path, "has \(names.count) files of JSON lines (.jsonl), and must have one")
    }
    var lines = try files.lines(of: names[0], limitBytes: ImportLimits.jsonLineBytes)
    file = lines.name
    while let line = try lines.next() {
      if line.allSatisfy({ $0 <= 0x20 }) { continue }
      guard let node = JSONNode(line), let type = node["type"]?.string else {
        throw lines.error("is not an object of JSON with a type")
      }
      if lines.number == 1 {
        guard type == "version", node["version"]?.integer == Self.version else {
          throw lines.error("is not the version \(Self.version) of Mattermost's bulk export")
        }
      }
      try read(type, node, lines)
      guard rooms.count <= ImportLimits.rooms else {
        throw lines.error("is one channel more than \(ImportLimits.rooms)")
      }
    }
    guard lines.number > 0 else { throw UnreadableExport(files.path, "is empty") }
    if teams.count > 1 { nameByTeam() }
    try spool.sort()
  }

  // MARK: Lines

  private mutating func read(
    _ type: String, _ line: JSONNode, _ lines: ExportLines
  ) throws(UnreadableExport) {
    switch type {
    case "channel":
      if let channel = line["channel"] { add(channel) }
    case "user", "bot":
      guard let user = line[type == "bot" ? "bot" : "user"], let name = user["username"]?.string
      else { throw lines.error("is a user without a username") }
      people.append(ForeignPerson(key: name, name: name))
      addMemberships(of: name, user)
    case "post":
      guard let post = line["post"], let team = post["team"]?.string,
        let channel = post["channel"]?.string
      else { throw lines.error("is a post without a team or channel") }
      try add(post, to: places[[team, channel]], lines)
    case "direct_channel":
      if let channel = line["direct_channel"] { _ = conversation(of: Self.members(of: channel)) }
    case "direct_post":
      guard let post = line["direct_post"],
        case let members = post["channel_members"]?.elements?.compactMap(\.string) ?? [],
        !members.isEmpty
      else { throw lines.error("is a direct post without channel_members") }
      try add(post, to: conversation(of: members), lines)
    default: return
    }
  }

  private mutating func add(_ channel: JSONNode) {
    guard let team = channel["team"]?.string, let name = channel["name"]?.string else { return }
    teams.insert(team)
    var room = ForeignRoom(name: name, access: .unknown("its type is neither O nor P"))
    switch channel["type"]?.string {
    case "O": room.access = .open
    case "P": room.access = .private
    default: break
    }
    room.title = channel["display_name"]?.string ?? ""
    room.topic = channel["header"]?.string ?? ""
    if room.topic.isEmpty { room.topic = channel["purpose"]?.string ?? "" }
    guard places.updateValue(Int32(rooms.count), forKey: [team, name]) == nil else { return }
    rooms.append(room)
  }

  private mutating func addMemberships(of name: String, _ user: JSONNode) {
    for team in user["teams"]?.elements ?? [] {
      for channel in team["channels"]?.elements ?? [] {
        guard let teamName = team["name"]?.string, let channelName = channel["name"]?.string,
          let place = places[[teamName, channelName]]
        else { continue }
        rooms[Int(place)].members.append(name)
        let roles = channel["roles"]?.string?.split(separator: " ") ?? []
        if roles.contains("channel_admin") { rooms[Int(place)].owners.append(name) }
      }
    }
  }

  private static func members(of channel: JSONNode) -> [String] {
    let members = channel["members"]?.elements?.compactMap(\.string) ?? []
    let participants = channel["participants"]?.elements?.compactMap { $0["username"]?.string }
    return members.isEmpty ? participants ?? [] : members
  }

  /// Returns the place of the room of a conversation, which is added if it is new.
  private mutating func conversation(of members: [String]) -> Int32 {
    let members = Set(members).sorted()
    // No team has this name.
    let key = ["direct", "/"] + members
    if let place = places[key] { return place }
    let place = Int32(rooms.count)
    places[key] = place
    var room = ForeignRoom(
      name: members.joined(separator: "-"), access: members.count <= 2 ? .direct : .private)
    room.title = members.joined(separator: ", ")
    room.members = members
    rooms.append(room)
    return place
  }

  /// Channels of several teams may have one name.
  private mutating func nameByTeam() {
    for (key, place) in places where key.count == 2 {
      rooms[Int(place)].name = key.joined(separator: ":")
    }
  }

  private mutating func add(
    _ post: JSONNode, to room: Int32?, _ lines: ExportLines
  ) throws(UnreadableExport) {
    guard let room else {
      omissions.add("posts of channels that the export does not list", at: lines.place)
      return
    }
    guard post["user"]?.string != nil else { throw lines.error("is a post without a user") }
    if let type = post["type"]?.string, type.hasPrefix("system_") {
      omissions.add("notices of Mattermost (\(type.prefix(64)))")
      return
    }
    let replies = post["replies"]?.elements ?? []
    let root = try spool.add(post.bytes, line: lines.number, room: room, at: Self.time(of: post))
    if !replies.isEmpty { repliedTo.insert(root) }
    for (index, reply) in replies.enumerated() {
      guard reply["user"]?.string != nil else {
        throw lines.error("has a reply without a user, number \(index + 1) of them")
      }
      _ = try spool.add(
        reply.bytes, line: lines.number, room: room, at: Self.time(of: reply), replyTo: root)
    }
  }

  /// In milliseconds; 0 if it is no time.
  private static func time(of post: JSONNode) -> Int64 {
    post["create_at"]?.integer ?? 0
  }

  // MARK: Rooms

  mutating func nextRoom() -> ForeignRoom? {
    room += 1
    lastID = (0, 0)
    guard Int(room) < rooms.count else { return nil }
    while next < spool.records.count, spool.records[next].room < room { next += 1 }
    return rooms[Int(room)]
  }

  mutating func nextMessages(
    _ names: inout PeopleNames
  ) throws(UnreadableExport) -> [ForeignMessage]? {
    var messages: [ForeignMessage] = []
    while next < spool.records.count, spool.records[next].room == room,
      messages.count < Self.messagesAtOnce
    {
      let record = spool.records[next]
      next += 1
      let (json, line) = try spool.read(record)
      guard let node = JSONNode(json) else { continue }
      messages.append(message(node, record, line: line))
    }
    return messages.isEmpty ? nil : messages
  }

  private mutating func message(
    _ node: JSONNode, _ record: MessageSpool.Record, line: Int
  ) -> ForeignMessage {
    // The export has no ids of posts; those of one millisecond keep their order.
    lastID = record.at == lastID.at ? (record.at, lastID.count + 1) : (record.at, 1)
    let suffix = lastID.count == 1 ? "" : "-\(lastID.count)"
    var lines = [node["message"]?.string ?? ""]
    for attachment in node["attachments"]?.elements ?? [] {
      let path = attachment["path"]?.string ?? ""
      lines.append("[file] \(path.split(separator: "/").last ?? "")")
    }
    var reactions: [ForeignReaction] = []
    var places: [String: Int] = [:]
    for reaction in node["reactions"]?.elements ?? [] {
      guard let code = reaction["emoji_name"]?.string, let user = reaction["user"]?.string
      else { continue }
      if let place = places[code] {
        reactions[place].senders.append(user)
      } else {
        places[code] = reactions.count
        reactions.append(ForeignReaction(code: code, senders: [user]))
      }
    }
    return ForeignMessage(
      key: Int64(record.number), id: "mattermost-\(record.at)\(suffix)",
      sender: node["user"]?.string ?? "", at: record.at,
      text: lines.filter { !$0.isEmpty }.joined(separator: "\n"), place: "\(file), line \(line)",
      replyTo: record.replyTo.map(Int64.init),
      isRepliedTo: repliedTo.contains(record.number), reactions: reactions)
  }
}
