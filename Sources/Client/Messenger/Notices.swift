public import Wire

/// What the entries that change a room say, as one line: "bo was removed by ada: spam".
public struct NoticeText {
  /// Returns the display name of a user.
  let name: (String) -> String
  /// Returns a time, given in milliseconds since 1970, for people.
  let time: (Int64) -> String

  public init(name: @escaping (String) -> String, time: @escaping (Int64) -> String) {
    self.name = name
    self.time = time
  }

  /// Says how many messages of blocked people are not shown.
  public static func hidden(_ count: Int) -> String {
    count == 1
      ? "A message of a blocked person is hidden"
      : "\(count) messages of a blocked person are hidden"
  }

  public func line(for entry: Entry) -> String {
    if let change = entry.settings {
      let parts = changes(in: change)
      if !parts.isEmpty { return "\(name(entry.from)) " + parts.joined(separator: ", ") }
    }
    guard let change = entry.member else { return "\(name(entry.from)) changed the room" }
    return describe(change, by: entry.from) + (change.reason.map { ": \($0)" } ?? "")
  }

  private func describe(_ change: MemberChange, by user: String) -> String {
    let (sender, name) = (name(user), name(change.user))
    let until = change.until.map { " until \(time($0))" } ?? ""
    let isOwn = user == change.user
    return switch change.role {
    case .owner: "\(sender) made \(name) an owner"
    case .moderator: "\(sender) made \(name) a moderator"
    case .member: isOwn ? "\(name) joined" : "\(sender) made \(name) a member"
    case .muted: "\(name) was muted by \(sender)\(until)"
    case .none: isOwn ? "\(name) left" : "\(name) was removed by \(sender)"
    case .banned: "\(name) was banned by \(sender)\(until)"
    }
  }

  private func changes(in change: RoomSettings.Change) -> [String] {
    var parts: [String] = []
    if let title = change.title { parts.append("named the room “\(title)”") }
    if let topic = change.topic {
      parts.append(topic.isEmpty ? "removed the topic" : "set the topic “\(topic)”")
    }
    if let access = change.access {
      parts.append(access == .private ? "made the room private" : "opened the room to everyone")
    }
    if let history = change.history {
      parts.append(
        history == .joined
          ? "lets new members read only what comes after them" : "lets new members read everything")
    }
    if let posting = change.posting {
      parts.append(posting == .moderators ? "lets only moderators post" : "lets everyone post")
    }
    if let seconds = change.slowSeconds {
      parts.append(
        seconds == 0 ? "ended the slow mode" : "allows one message in \(seconds) s")
    }
    return parts
  }
}

extension Chat {
  var notices: NoticeText {
    NoticeText(name: { name(of: $0) }, time: { moment($0).until })
  }

  /// Returns why a conversation has ended.
  func describe(_ departure: ServerMessage.Departure, of title: String) -> String {
    let sender = name(of: departure.by)
    let reason = departure.reason.map { ": \($0)" } ?? ""
    return switch departure.role {
    case .banned?: "You were banned from \(title) by \(sender)\(reason)."
    case nil: "\(sender) made \(title) private, and you are no member."
    default:
      departure.by == user
        ? "You have left \(title)." : "You were removed from \(title) by \(sender)\(reason)."
    }
  }
}
