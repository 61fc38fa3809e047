import Wire

/// An export of Slack: lists of people and channels, and for each channel a folder with a file a day.
/// https://slack.com/help/articles/220556107
struct SlackExport: ForeignExport {
  private(set) var people: [ForeignPerson] = []
  private(set) var omissions = Omissions()
  private let files: ExportFiles
  /// The folder with the lists; empty, or with a slash at its end.
  private let root: String
  /// The days of each channel, by its folder.
  private var days: [Substring: [String]] = [:]
  private var channels: ArraySlice<Channel> = []
  private var pending: ArraySlice<String> = []
  private var text: SlackText

  private struct Channel {
    var room: ForeignRoom
    /// Possible names of its folder.
    var folders: [String]
  }

  /// The lists of channels, and what may be read by everyone.
  private static let lists: [(file: String, isOpen: Bool)] = [
    ("channels.json", true), ("groups.json", false), ("mpims.json", false), ("dms.json", false),
  ]

  /// Messages whose text a person or a program wrote; the others are notices such as `channel_join`.
  private static let writtenSubtypes: Set<String> = [
    "bot_message", "me_message", "thread_broadcast", "reply_broadcast", "file_share",
    "file_comment", "slackbot_response",
  ]

  init(_ files: ExportFiles) throws(UnreadableExport) {
    self.files = files
    let lists = Set(Self.lists.map(\.file))
    guard
      let list = files.names.first(where: {
        lists.contains(String($0.split(separator: "/").last ?? ""))
      })
    else {
      throw UnreadableExport(
        files.path,
        "is no export of Slack: it has none of \(Self.lists.map(\.file).joined(separator: ", "))")
    }
    let root = String(
      list.prefix(upTo: list.lastIndex(of: "/").map(list.index(after:)) ?? list.startIndex))
    self.root = root
    text = SlackText()
    for name in files.names where name.hasPrefix(root) && name.hasSuffix(".json") {
      guard let slash = name.lastIndex(of: "/"), slash >= root.endIndex else { continue }
      days[name[root.endIndex..<slash], default: []].append(name)
    }
    try readPeople()
    var channels: [Channel] = []
    for list in Self.lists where files.names.contains(root + list.file) {
      for node in try elements(of: root + list.file) {
        channels.append(channel(node, isListedOpen: list.isOpen))
      }
    }
    self.channels = channels[...]
  }

  private func elements(of name: String) throws(UnreadableExport) -> [JSONNode] {
    let stream = try files.open(name)
    let bytes = try stream.all(limitBytes: ImportLimits.jsonBytes)
    guard let node = JSONNode(bytes) else {
      let end = JSONNode.errorOffset(in: bytes) ?? 0
      let line = 1 + bytes[..<end].count(where: { $0 == UInt8(ascii: "\n") })
      throw UnreadableExport(stream.name, line: line, "is not JSON")
    }
    guard let elements = node.elements else {
      throw UnreadableExport(stream.name, "is not a list in JSON")
    }
    return elements
  }

  private mutating func readPeople() throws(UnreadableExport) {
    for file in ["users.json", "org_users.json"] where files.names.contains(root + file) {
      for node in try elements(of: root + file) {
        guard let key = node["id"]?.string else { continue }
        people.append(ForeignPerson(key: key, name: node["name"]?.string ?? key))
      }
    }
  }

  private mutating func channel(_ node: JSONNode, isListedOpen: Bool) -> Channel {
    let id = node["id"]?.string ?? ""
    let name = node["name"]?.string ?? ""
    let members = node["members"]?.elements?.compactMap(\.string) ?? []
    let isOpen =
      isListedOpen && node["is_private"]?.boolean != true && node["is_mpim"]?.boolean != true
      && node["is_im"]?.boolean != true
    var room = ForeignRoom(name: name, access: isOpen ? .open : .private, members: members)
    if name.isEmpty {
      // A conversation has no name, and with oneself one member.
      room.access = .direct
      room.name = id
    }
    room.topic = node["topic"]?["value"]?.string ?? ""
    if room.topic.isEmpty { room.topic = node["purpose"]?["value"]?.string ?? "" }
    room.owners = [node["creator"]?.string].compactMap { $0 }
    if !name.isEmpty { text.channels[id] = name }
    return Channel(room: room, folders: [name, id].filter { !$0.isEmpty })
  }

  mutating func nextRoom() -> ForeignRoom? {
    guard let channel = channels.popFirst() else { return nil }
    let folder = channel.folders.first { days[Substring($0)] != nil }
    pending = folder.flatMap { days[Substring($0)] }.map { $0[...] } ?? []
    return channel.room
  }

  mutating func nextMessages(
    _ names: inout PeopleNames
  ) throws(UnreadableExport) -> [ForeignMessage]? {
    guard let day = pending.popFirst() else { return nil }
    var messages: [ForeignMessage] = []
    for (index, node) in try elements(of: day).enumerated() {
      let place = "\(files.shown(day)), message \(index + 1)"
      if let message = message(node, place, &names) { messages.append(message) }
    }
    return messages.sorted { $0.key < $1.key }
  }

  // MARK: Messages

  private mutating func message(
    _ node: JSONNode, _ place: String, _ names: inout PeopleNames
  ) -> ForeignMessage? {
    if let subtype = node["subtype"]?.string, !Self.writtenSubtypes.contains(subtype) {
      omissions.add("notices of Slack (\(subtype.prefix(64)))")
      return nil
    }
    guard let stamp = node["ts"]?.string, let time = Self.microseconds(stamp) else {
      return ForeignMessage(key: 0, id: "", sender: "", at: 0, text: "", place: place)
    }
    let thread = node["thread_ts"]?.string.flatMap(Self.microseconds)
    var reactions: [ForeignReaction] = []
    for reaction in node["reactions"]?.elements ?? [] {
      guard let code = reaction["name"]?.string else { continue }
      reactions.append(
        ForeignReaction(
          code: code, senders: reaction["users"]?.elements?.compactMap(\.string) ?? []))
    }
    return ForeignMessage(
      key: time, id: "slack-\(stamp)",
      sender: sender(of: node, &names), at: time / 1000, text: written(node, &names), place: place,
      replyTo: thread == time ? nil : thread, isRepliedTo: thread == time, reactions: reactions)
  }

  private func sender(of node: JSONNode, _ names: inout PeopleNames) -> String {
    if let user = node["user"]?.string {
      // A guest of another workspace is in no list.
      if let name = node["user_profile"]?["name"]?.string { _ = names.user(user, named: name) }
      return user
    }
    let name =
      node["username"]?.string ?? node["bot_profile"]?["name"]?.string ?? node["bot_id"]?.string
      ?? "bot"
    let key = "bot \(name)"
    _ = names.user(key, named: name)
    return key
  }

  private func written(_ node: JSONNode, _ names: inout PeopleNames) -> String {
    var lines: [String] = []
    let own = text.plain(node["text"]?.string ?? "", &names)
    lines.append(node["subtype"]?.string == "me_message" ? "* \(own)" : own)
    if own.isEmpty {
      // Programs often write nothing else.
      for attachment in node["attachments"]?.elements ?? [] {
        let part = attachment["text"]?.string ?? attachment["fallback"]?.string ?? ""
        lines.append(text.plain(part, &names))
      }
    }
    for file in node["files"]?.elements ?? [] {
      let link = file["permalink"]?.string ?? file["url_private"]?.string ?? ""
      lines.append("[file] \(file["name"]?.string ?? "") \(link)")
    }
    return lines.filter { !$0.isEmpty }.joined(separator: "\n")
  }

  /// `1355517523.000005`; `nil` if that is no such time.
  private static func microseconds(_ stamp: String) -> Int64? {
    let parts = stamp.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    let areDigits = parts.allSatisfy { $0.allSatisfy { (48...57).contains($0) } }
    guard parts.count == 2, areDigits, (1...12).contains(parts[0].count), parts[1].count == 6,
      let seconds = Int64(String(parts[0]) ?? ""), let fraction = Int64(String(parts[1]) ?? "")
    else { return nil }
    return seconds * 1_000_000 + fraction
  }
}
