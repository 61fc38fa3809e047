public import Wire

/// Finds `@name` and the user's own words in texts.
struct Mentions {
  /// The user's own name, in lower case.
  var user: String?
  /// In lower case.
  var words: [String]

  struct Found: Equatable {
    var range: Range<String.Index>
    /// The user that `@name` names; `nil` for one of the user's own words.
    var user: String?
  }

  /// Whether a text mentions the user.
  func mentionsUser(in text: String) -> Bool {
    if let user, text.utf8.contains(UInt8(ascii: "@")),
      Self.names(in: text).contains(where: { $0.user == user })
    {
      return true
    }
    return !words.isEmpty && !ownWords(in: text).isEmpty
  }

  /// Returns the mentions of the given users and the own words, in order, without overlaps.
  func find(in text: String, isUser: (String) -> Bool) -> [Found] {
    var found: [Found] = []
    if text.utf8.contains(UInt8(ascii: "@")) {
      found = Self.names(in: text).filter { $0.user == user || isUser($0.user ?? "") }
    }
    for range in words.isEmpty ? [] : ownWords(in: text)
    where !found.contains(where: { $0.range.overlaps(range) }) {
      found.append(Found(range: range, user: nil))
    }
    return found.sorted { $0.range.lowerBound < $1.range.lowerBound }
  }

  /// Returns every `@name` that does not continue a word, as an address of e-mail does.
  private static func names(in text: String) -> [Found] {
    var found: [Found] = []
    var start = text.startIndex
    while let at = text.utf8[start...].firstIndex(of: UInt8(ascii: "@")) {
      start = text.utf8.index(after: at)
      if at > text.startIndex {
        let before = text[text.index(before: at)]
        if before.isLetter || before.isNumber || before == "@" { continue }
      }
      var name = text[start...].prefix {
        $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0))
      }
      // At the end of a sentence a dot is not part of the name.
      while let last = name.last, last == "." || last == "-" { name.removeLast() }
      guard !name.isEmpty else { continue }
      found.append(Found(range: at..<name.endIndex, user: name.lowercased()))
      start = name.endIndex
    }
    return found
  }

  private func ownWords(in text: String) -> [Range<String.Index>] {
    // Most texts have none, which is found out without looking at each character.
    let lower = text.lowercased()
    return words.filter { lower.contains($0) }.flatMap { word in
      ShownText.occurrences(of: word, in: text).filter { range in
        let before =
          range.lowerBound > text.startIndex
          ? text[text.index(before: range.lowerBound)] : " "
        let after = range.upperBound < text.endIndex ? text[range.upperBound] : " "
        return ![before, after].contains { $0.isLetter || $0.isNumber }
      }
    }
  }
}

extension Chat {
  var mentions: Mentions { Mentions(user: user, words: settings.highlight) }

  /// Returns the places of those entries after `after` that mention the user.
  public func mentions(in entries: [Entry], after: Int64) -> [Int64] {
    let mentions = self.mentions
    let found = entries.filter { entry in
      entry.seq > after && entry.from != user && entry.kind.isContent
        && mentions.mentionsUser(in: entry.text ?? "")
    }
    return found.suffix(Conversation.mentionLimit).map(\.seq)
  }

  /// Records an unread entry that mentions the user. A direct message is addressed anyway.
  func recordMention(_ entry: Entry, in conversation: inout Conversation) {
    guard conversation.peer == nil, let seq = mentions(in: [entry], after: conversation.read).first
    else { return }
    let read = conversation.read
    conversation.mentions.removeAll { $0 <= read }
    guard conversation.mentions.count < Conversation.mentionLimit,
      !conversation.mentions.contains(seq)
    else { return }
    conversation.mentions.append(seq)
  }

  /// Whether an entry is to be announced.
  func isWanted(_ entry: Entry, in conversation: Conversation) -> Bool {
    switch conversation.notifications {
    case .all: true
    case .none: false
    case .mentions: mentions.mentionsUser(in: entry.text ?? "")
    }
  }

  /// Changes which messages notify: all, in a room only mentions, none.
  mutating func changeNotifications(
    of room: String, to level: Conversation.Notifications, _ effects: inout [Effect]
  ) {
    guard let conversation = conversations[room] else { return }
    conversations[room]?.notifications = level
    let text =
      switch level {
      case .all: "is unmuted"
      case .mentions: "notifies of mentions only"
      case .none: "is muted"
      }
    complain("\(conversation.title) \(text).", isError: false)
    effects.append(.save(room))
  }
}

extension Conversation {
  /// Which messages notify, and count as unread. The raw value is the archive's.
  public enum Notifications: Int64, Sendable, CaseIterable {
    case all = 0
    case none = 1
    case mentions = 2
  }

  /// The number of mentions that are counted.
  static let mentionLimit = 99

  public var isMuted: Bool {
    get { notifications == .none }
    set { notifications = newValue ? .none : .all }
  }

  /// The number of unread messages that mention the user.
  public var unreadMentions: Int { unread > 0 ? mentions.count { $0 > read } : 0 }

  /// The number of unread messages that the user wants to know of.
  public var wantedUnread: Int64 {
    switch notifications {
    case .all: unread
    case .mentions: Int64(unreadMentions)
    case .none: 0
    }
  }

  /// The level after this one, for the key.
  var nextNotifications: Notifications {
    switch notifications {
    case .all: .none
    case .none: peer == nil ? .mentions : .all
    case .mentions: .all
    }
  }
}
