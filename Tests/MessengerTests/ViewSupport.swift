import Terminal
import Wire

@testable import Messenger

/// A drawing as text, one line per row, without trailing blanks: to look at, and to compare.
func picture(_ drawing: Drawing) -> String {
  (0..<drawing.grid.size.rows).map { row in
    var line = drawing.grid[row: row].filter { $0.width > 0 }.map { String($0.character) }.joined()
    while line.last == " " { line.removeLast() }
    return line
  }.joined(separator: "\n")
}

/// Chats to look at: on a Friday, at 12:40 of the year 2025.
enum Sample {
  static let minute: Int64 = 60_000
  static let day: Int64 = 24 * 60 * minute
  /// 2025-11-21, 12:40, as if there were no time zones.
  static let now: Int64 = 1_763_728_800_000

  /// A calendar without a time zone.
  static func time(_ milliseconds: Int64) -> LocalTime {
    let minutes = milliseconds / minute
    let days = Int(minutes / (24 * 60))
    // Days to a date, after Howard Hinnant's "chrono-compatible low-level date algorithms".
    let shifted = days + 719_468
    let era = shifted / 146_097
    let ofEra = shifted - era * 146_097
    let year = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
    let ofYear = ofEra - (365 * year + year / 4 - year / 100)
    let month = (5 * ofYear + 2) / 153
    return LocalTime(
      year: year + era * 400 + (month > 9 ? 1 : 0), month: month > 9 ? month - 9 : month + 3,
      day: ofYear - (153 * month + 2) / 5 + 1, hour: Int(minutes / 60 % 24),
      minute: Int(minutes % 60), weekday: (days + 4) % 7)
  }

  static func chat(_ columns: Int, _ rows: Int) -> Chat {
    var chat = Chat(
      settings: Settings(), size: Size(columns: columns, rows: rows), now: now,
      relay: "ws://localhost", user: "ada", localTime: { Sample.time($0) })
    chat.connection = .live(roundTripMilliseconds: 12)
    chat.directory = .complete
    return chat
  }

  static func message(
    _ id: Int, from: String, _ text: String, minutesAgo: Int64 = 0, state: SendState? = nil
  ) -> Message {
    var message = Message(
      key: .init(from: from, id: "m\(id)"), seq: state == .waiting ? nil : Int64(id),
      at: now - minutesAgo * minute, text: text, isOwn: from == "ada")
    message.state = from == "ada" ? state ?? .sent : nil
    return message
  }

  static func add(_ conversation: Conversation, to chat: inout Chat) {
    chat.conversations[conversation.room] = conversation
    chat.listed.append(conversation.room)
  }

  /// A chat in the middle of a day: a person's conversation is open.
  static func busy(_ columns: Int, _ rows: Int) -> Chat {
    var chat = chat(columns, rows)
    chat.names = ["ada": "Ada Lovelace", "grace": "Grace Hopper", "bo": "Bo", "echo": "Echo"]
    var grace = Conversation(room: "dm:ada:grace", title: "Grace Hopper", peer: "grace")
    grace.presence = .online
    grace.last = .init(
      seq: 0, from: "ada", text: "It is a moth!", at: now - 2 * minute, state: .read)
    add(grace, to: &chat)
    var general = Conversation(room: "general", title: "General")
    general.unread = 3
    general.last = .init(seq: 0, from: "bo", text: "lunch?", at: now - 30 * minute)
    general.marks = ["bo": .init(received: 1, read: 1), "ada": .init(received: 1, read: 1)]
    add(general, to: &chat)
    var bo = Conversation(room: "dm:ada:bo", title: "Bo", peer: "bo")
    bo.presence = .away
    bo.unread = 12
    bo.isMuted = true
    bo.typing = [.init(user: "bo", until: now + 1000)]
    bo.last = .init(seq: 0, from: "bo", text: "hm", at: now - day)
    add(bo, to: &chat)
    var echo = Conversation(room: "dm:ada:echo", title: "Echo", peer: "echo")
    echo.isBot = true
    echo.presence = .offline
    echo.lastSeen = now - 3 * day
    echo.last = .init(seq: 0, from: "echo", text: "", at: now - 4 * day)
    add(echo, to: &chat)

    var timeline = Timeline(room: "dm:ada:grace")
    timeline.messages = [
      message(1, from: "grace", "Good morning! Is the machine running again?", minutesAgo: 1500),
      message(2, from: "ada", "Since seven.", minutesAgo: 1490, state: .read),
      message(3, from: "grace", "Something is in relay 70 of panel F.", minutesAgo: 20),
      message(4, from: "grace", "See https://example.org/log for the page.", minutesAgo: 19),
      message(5, from: "ada", "It is a moth!", minutesAgo: 2, state: .read),
    ]
    timeline.messages[4].reactions = [
      .init(emoji: "👍", users: ["grace"]), .init(emoji: "🎉", users: ["grace", "ada"]),
    ]
    timeline.messages[4].quote = .init(seq: 3, from: "grace", text: "Something is in relay 70")
    timeline.unreadAfter = 3
    chat.timeline = timeline
    return chat
  }

  /// A room with every possible state of a message.
  static func room(_ columns: Int, _ rows: Int) -> Chat {
    var chat = busy(columns, rows)
    var timeline = Timeline(room: "general")
    timeline.messages = [
      message(1, from: "bo", "Who was first?", minutesAgo: 60 * 24 * 4),
      message(2, from: "grace", "first\n  second, set in\nthird", minutesAgo: 50),
      message(3, from: "grace", "And the same person again.", minutesAgo: 49),
      message(4, from: "ada", "東京の天気は晴れです 👩‍👩‍👧‍👦", minutesAgo: 40, state: .delivered),
      message(5, from: "bo", "gone", minutesAgo: 30),
      message(6, from: "bo", "see you at https://example.org/a?b=c.", minutesAgo: 29),
      message(
        7, from: "ada", "too long, it seems", minutesAgo: 3, state: .failed("refused: too long")),
      message(8, from: "ada", "still on its way", state: .waiting),
    ]
    timeline.messages[2].isEdited = true
    timeline.messages[4].isDeleted = true
    timeline.messages[5].forwardedFrom = "echo"
    timeline.messages[5].reactions = [.init(emoji: "👀", users: ["grace", "echo"])]
    timeline.isComplete = true
    chat.timeline = timeline
    return chat
  }
}
