extension Entry {
  /// The entry in its current state: what it says after its edits, or that it was deleted, and who
  /// reacts to it with what. Of another kind than `text` it is what it was.
  /// - Parameter changes: the entries that are about this one, in the order of the log.
  public func folded(with changes: [Entry]) -> Entry {
    guard kind == .text else { return self }
    var folded = self
    if isDeleted || changes.contains(where: { $0.kind == .delete }) {
      folded.body = Self.deletedTextBody
      folded.body.append(",\"deleted\":true")
      return folded
    }
    if let edit = changes.last(where: { $0.kind == .edit }) {
      folded.body = []
      folded.body.append(member: "\"text\":", edit.text ?? "")
      if let replyTo { folded.body.append(member: ",\"reply_to\":", replyTo) }
      folded.body.append(member: ",\"edited_at\":", edit.at)
    }
    Reactions(changes).append(to: &folded.body)
    return folded
  }
}

/// Who reacts with what, each emoji in the order of those who gave it first.
private struct Reactions {
  private var users: [String: [String]] = [:]
  private var emoji: [String] = []

  init(_ changes: [Entry]) {
    // The last word of each user on each emoji counts, and stands where the first of a run stood.
    for change in changes where change.kind == .react {
      guard let (emoji, isOn) = change.reaction else { continue }
      if isOn {
        if users[emoji] == nil {
          users[emoji] = []
          self.emoji.append(emoji)
        }
        if users[emoji]?.contains(change.from) == false { users[emoji]?.append(change.from) }
      } else {
        users[emoji]?.removeAll { $0 == change.from }
      }
    }
  }

  func append(to body: inout [UInt8]) {
    var isFirst = true
    for emoji in emoji {
      guard let users = users[emoji], !users.isEmpty else { continue }
      body.append(isFirst ? ",\"reactions\":{" : ",")
      isFirst = false
      body.append(jsonString: emoji)
      body.append(":[")
      for (index, user) in users.enumerated() {
        if index > 0 { body.append(",") }
        body.append(jsonString: user)
      }
      body.append("]")
    }
    if !isFirst { body.append("}") }
  }
}
