import Glibc

/// Logs of IRC, as irssi, WeeChat and ZNC write them: a file for each channel, or for each day of one.
struct IRCLogs: ForeignExport {
  let people: [ForeignPerson] = []
  private(set) var omissions = Omissions()
  private let files: ExportFiles
  private var channels: ArraySlice<Channel> = []
  private var pending: ArraySlice<Log> = []
  private var lines: ExportLines?
  private var day: IRCLine.Day?
  private let firstDay: IRCLine.Day?
  private var messageCount: Int64 = 0
  private var hasMessages = false
  /// The first line that is of no log.
  private var unknown: UnreadableExport?

  /// A file, and the day that its name has.
  private struct Log {
    var name: String
    var day: IRCLine.Day?
  }

  private struct Channel {
    var name: String
    var isChannel: Bool
    var logs: [Log]
  }

  private static let messagesAtOnce = 100

  /// - Parameters:
  ///   - named: the logs that are imported although their names are not those of channels.
  ///   - firstDay: of a log that does not say it.
  init(_ files: ExportFiles, named: RoomSelection, firstDay: IRCLine.Day?) {
    self.files = files
    self.firstDay = firstDay
    var channels: [String: Channel] = [:]
    for name in files.names {
      let log = Log(name: name, day: Self.day(inNameOf: name))
      let channel = Self.channel(of: name)
      let isChannel = channel.isChannel || named.names(channel.name)
      channels[
        channel.name, default: Channel(name: channel.name, isChannel: isChannel, logs: [])
      ].logs.append(log)
    }
    self.channels = channels.values.sorted { $0.name < $1.name }[...]
  }

  // MARK: Names

  /// Returns the channel of a log, in lower case: what follows the last `#` or `&` of
  /// `irc.libera.#general.weechatlog`, `#general/2005-01-31.log` or `ada_libera_#general_20050131.log`.
  /// Without one it is a conversation, whose name is that of the file, or of the folder of its days.
  static func channel(of path: String) -> (name: String, isChannel: Bool) {
    let parts = path.split(separator: "/")
    let isChannel = parts.last { $0.contains { "#&".contains($0) } }
    var name = Substring(isChannel ?? parts.last ?? "")
    if let isChannel, let sign = isChannel.firstIndex(where: { "#&".contains($0) }) {
      name = isChannel[sign...].drop { "#&".contains($0) }
    }
    for suffix in [".log", ".weechatlog", ".txt"] where name.hasSuffix(suffix) {
      name = name.dropLast(suffix.count)
    }
    if let date = dateSuffix(of: name) {
      name = name.dropLast(date)
      // `2005-01-31.log` in the folder of a conversation.
      if name.isEmpty, parts.count >= 2 { name = parts[parts.count - 2] }
    }
    return (String(name).lowercased(), isChannel != nil)
  }

  /// Returns the length of a date at the end of a name, with what separates it.
  private static func dateSuffix(of name: Substring) -> Int? {
    for length in [10, 8] where IRCLine.Day(name.suffix(length)) != nil {
      let isSeparated = "_-.".contains(name.dropLast(length).last ?? "a")
      return isSeparated ? length + 1 : name.count == length ? length : nil
    }
    return nil
  }

  private static func day(inNameOf path: String) -> IRCLine.Day? {
    var name = path.split(separator: "/").last ?? ""
    if let dot = name.lastIndex(of: "."), name[dot...] == ".log" { name = name[..<dot] }
    return IRCLine.Day(name.suffix(10)) ?? IRCLine.Day(name.suffix(8))
  }

  // MARK: Rooms

  mutating func nextRoom() throws(UnreadableExport) -> ForeignRoom? {
    guard let channel = channels.popFirst() else {
      // Not a single line of a log: something else was named.
      if !hasMessages, let unknown { throw unknown }
      return nil
    }
    pending = channel.logs[...]
    lines = nil
    messageCount = 0
    return ForeignRoom(
      name: channel.name,
      access: channel.isChannel
        ? .open
        : .unknown(
          "its log is not named like a channel (#name), so it may be private; name it in --rooms, as "
            + "\(channel.name)=ROOM, to make it an open room"))
  }

  mutating func nextMessages(
    _ names: inout PeopleNames
  ) throws(UnreadableExport) -> [ForeignMessage]? {
    var messages: [ForeignMessage] = []
    while messages.count < Self.messagesAtOnce {
      guard let line = try nextLine() else { break }
      switch IRCLine(Self.text(line)) {
      case .day(let day): self.day = day
      case .notice: omissions.add("notices of IRC")
      case .unknown:
        let error = lines?.error(
          "is no line of a log of irssi, WeeChat or ZNC, such as: 12:34 <ada> hi")
        unknown = unknown ?? error
        omissions.add(
          "lines that are no log of irssi, WeeChat or ZNC", at: lines?.place)
      case .message(let day, let time, let nick, let text):
        hasMessages = true
        messages.append(try message(day, time, nick, text, &names))
      }
    }
    return messages.isEmpty ? nil : messages
  }

  private mutating func nextLine() throws(UnreadableExport) -> [UInt8]? {
    while true {
      if let line = try lines?.next() {
        if line.isEmpty { continue }
        return line
      }
      guard let log = pending.popFirst() else { return nil }
      lines = try files.lines(of: log.name, limitBytes: ImportLimits.logLineBytes)
      day = log.day ?? firstDay
    }
  }

  private mutating func message(
    _ ownDay: IRCLine.Day?, _ time: IRCLine.Time, _ nick: String, _ text: String,
    _ names: inout PeopleNames
  ) throws(UnreadableExport) -> ForeignMessage {
    guard let day = ownDay ?? day else {
      throw UnreadableExport(
        lines?.name ?? files.path, line: lines?.number,
        "has a time, and neither the log nor its name has the day; say it with --date 2005-01-31")
    }
    messageCount += 1
    // Case tells no nicks apart.
    let key = nick.lowercased()
    _ = names.user(key, named: nick)
    return ForeignMessage(
      key: messageCount, id: "irc-\(messageCount)", sender: key,
      at: Self.milliseconds(day, time), text: text, place: lines?.place ?? files.path)
  }

  /// Returns a time in the zone of this process (`TZ`); 0 if there is none.
  private static func milliseconds(_ day: IRCLine.Day, _ time: IRCLine.Time) -> Int64 {
    var parts = unsafe tm()
    unsafe parts.tm_year = Int32(day.year - 1900)
    unsafe parts.tm_mon = Int32(day.month - 1)
    unsafe parts.tm_mday = Int32(day.day)
    unsafe parts.tm_hour = Int32(time.hour)
    unsafe parts.tm_min = Int32(time.minute)
    unsafe parts.tm_sec = Int32(time.second)
    unsafe parts.tm_isdst = -1
    return Int64(unsafe max(0, mktime(&parts))) * 1000
  }

  // MARK: Bytes

  /// Returns a line as text, without the codes of colours: UTF-8, or else Latin-1.
  private static func text(_ line: [UInt8]) -> String {
    var plain: [UInt8] = []
    var index = 0
    while index < line.count {
      let byte = line[index]
      index += 1
      if byte == 3 { index = endOfColor(line, index) }
      if byte >= 0x20 || byte == 0x09 { plain.append(byte) }
    }
    if let text = String(validating: plain, as: UTF8.self) { return text }
    return String(String.UnicodeScalarView(plain.map { Unicode.Scalar($0) }))
  }

  /// After the code 3 follow up to two numbers of up to two digits, with a comma between them.
  private static func endOfColor(_ line: [UInt8], _ start: Int) -> Int {
    func digits(_ at: Int) -> Int {
      (at..<min(line.count, at + 2)).prefix { (48...57).contains(line[$0]) }.count
    }
    let first = start + digits(start)
    guard first > start, first < line.count, line[first] == UInt8(ascii: ","),
      case let second = digits(first + 1), second > 0
    else { return first }
    return first + 1 + second
  }
}
