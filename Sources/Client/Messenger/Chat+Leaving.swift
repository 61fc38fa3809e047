import Client
import Wire

/// Leaving conversations, and marks of the user's own in the list.
extension Chat {
  /// The conversation that a command means: the selected one of the list, or the open one.
  var meantRoom: String? { pane == .list ? listSelection : timeline?.room }

  mutating func askToLeave() {
    guard let room = meantRoom, let conversation = conversations[room] else { return }
    if outgoing.contains(where: { $0.send.room == room && $0.refusal == nil }) {
      return complain(
        "\(conversation.title) has a message that waits to be sent: take it back first.")
    }
    overlay = .confirmLeaving(room)
  }

  /// Ends the membership, and removes the conversation with its messages from this machine.
  mutating func leave(_ room: String, _ effects: inout [Effect]) {
    guard let conversation = conversations[room] else { return }
    guard isLive || !conversation.isMember else {
      return complain("Leaving \(conversation.title) needs a connection.")
    }
    // A membership by an entry ends by one; the last owner stays.
    if let user, conversation.membership.role?.isMember == true {
      let leaving = MemberChange(user: user, role: .none)
      return ask(.init(room: room, request: .member(leaving), isLeaving: true), &effects)
    }
    forget(room, &effects)
  }

  mutating func forget(_ room: String, _ effects: inout [Effect]) {
    guard let conversation = conversations[room] else { return }
    for line in outgoing where line.send.room == room {
      if line.upload != nil { effects.append(.cancelUpload(id: line.send.id)) }
      effects.append(.discard(room: room, id: line.send.id))
    }
    outgoing.removeAll { $0.send.room == room }
    effects.append(.leave(room))
    if timeline?.room == room {
      timeline = nil
      endComposition()
      search = nil
      pane = .list
    }
    // A person of the directory can still be written to, and a listed room can still be joined.
    conversations[room] = nil
    drafts[room] = nil
    if conversation.order != .max || conversation.isOffered {
      var fresh = Conversation(room: room, title: conversation.title, peer: conversation.peer)
      fresh.order = conversation.order
      fresh.isOffered = conversation.isOffered
      fresh.isBot = conversation.isBot
      fresh.presence = conversation.presence
      fresh.lastSeen = conversation.lastSeen
      conversations[room] = fresh
    }
    orderList()
    listSelection = listed.first
    complain("You have left \(conversation.title).", isError: false)
  }

  /// Shows the conversation as unread until it is opened again.
  mutating func markUnread(_ effects: inout [Effect]) {
    guard let room = meantRoom, conversations[room] != nil else { return }
    conversations[room]?.isMarkedUnread = true
    effects.append(.save(room))
    if timeline?.room == room {
      saveDraft(&effects)
      timeline = nil
      endComposition()
      enter(.list)
      listSelection = room
    }
    isListStale = true
  }

  mutating func togglePin(_ effects: inout [Effect]) {
    guard let room = meantRoom, let conversation = conversations[room] else { return }
    pin(room, !conversation.isPinned, &effects)
  }

  mutating func pin(_ room: String, _ isPinned: Bool, _ effects: inout [Effect]) {
    guard let conversation = conversations[room] else { return }
    conversations[room]?.isPinned = isPinned
    complain("\(conversation.title) is \(isPinned ? "pinned" : "not pinned").", isError: false)
    effects.append(.save(room))
    isListStale = true
  }
}
