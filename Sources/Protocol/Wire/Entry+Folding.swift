extension Entry {
  /// The entry in its current state: what it says after its edits, or that it was deleted, and who
  /// reacts to it with what. Of another kind than `text` and `data` it is what it was.
  /// - Parameter changes: the entries that are about this one, in the order of the log.
  public func folded(with changes: [Entry]) -> Entry {
    if kind.isContent, changes.contains(where: { $0.kind == .delete }) { return deleted }
    return folded(
      edit: changes.last { $0.kind == .edit }, reactions: Reaction.listed(of: changes))
  }

  /// As `folded(with:)`, of an entry that nothing deletes but what it says itself.
  /// - Parameter edit: the last one.
  public func folded(edit: Entry?, reactions: [Reaction]) -> Entry {
    guard kind == .text else { return self }
    if isDeleted { return deleted }
    var folded = self
    if let edit {
      folded.body = []
      folded.body.append(member: "\"text\":", edit.text ?? "")
      if let replyTo { folded.body.append(member: ",\"reply_to\":", replyTo) }
      folded.body.append(member: ",\"edited_at\":", edit.at)
    }
    Reaction.append(reactions, to: &folded.body)
    return folded
  }

  private var deleted: Entry {
    var deleted = self
    deleted.body = deletedBody
    if kind == .text { deleted.body.append(",\"deleted\":true") }
    return deleted
  }
}
