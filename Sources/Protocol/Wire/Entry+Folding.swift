extension Entry {
  /// Returns the entry in its current state: with its text after the last edit, or as deleted, and
  /// with its reactions. Entries of other kinds than `text`, `data` and `file` are returned unchanged.
  /// - Parameter changes: the entries that refer to this one, in the order of the log.
  public func folded(with changes: [Entry]) -> Entry {
    if kind.isContent, let deletion = changes.first(where: { $0.kind == .delete }) {
      return deleted(by: deletion.from == from ? nil : deletion.from)
    }
    return folded(
      edit: changes.last { $0.kind == .edit }, reactions: Reaction.listed(of: changes))
  }

  /// Returns the same as `folded(with:)`, for an entry whose body already shows whether it was
  /// deleted.
  /// - Parameter edit: the last one.
  public func folded(edit: Entry?, reactions: [Reaction]) -> Entry {
    guard kind.isEditable else { return self }
    if isDeleted { return deleted(by: deletedBy) }
    var folded = self
    if let edit {
      if var file {
        file.caption = edit.text
        folded.body = file.body
      } else {
        folded.body = []
        folded.body.append(member: "\"text\":", edit.text ?? "")
        if let replyTo { folded.body.append(member: ",\"reply_to\":", replyTo) }
      }
      folded.body.append(member: ",\"edited_at\":", edit.at)
    }
    Reaction.append(reactions, to: &folded.body)
    return folded
  }

  private func deleted(by moderator: String?) -> Entry {
    var deleted = self
    deleted.body = deletedBody(by: moderator)
    if kind == .text { deleted.body.append(",\"deleted\":true") }
    return deleted
  }
}
