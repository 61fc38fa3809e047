import Wire

/// Sends whose id is known.
extension Sequencer {
  static func idConflict(_ append: LogRequest.Append, _ seq: Int64) -> WireError {
    var error = WireError(
      .idConflict,
      "Entry \(seq) in \(append.room) has this id and other content. Nothing was stored; "
        + "send the new content with a new id.",
      re: .send, room: append.room, id: append.id)
    error.seq = seq
    return error
  }
}

extension LogRequest.Append {
  /// Whether the content is the same as that of which an entry was made. Of a forward, room and
  /// `seq` are compared, and of a file all but its description: the relay has added the rest.
  func hasContent(of entry: Entry) -> Bool {
    guard kind == entry.kind else { return false }
    if case .forward(let source)? = reference {
      guard let known = entry.forward else { return false }
      return known.room == source.room && known.seq == source.seq
    }
    if case .file? = reference {
      var known = entry.file
      known?.description = nil
      return known?.body == body
    }
    return body == entry.body
  }
}

extension Entry {
  /// Whether the content was removed, by a deletion of this entry or of the text that it edits.
  var isRedacted: Bool { kind == .edit ? text == "" : isDeleted }
}
