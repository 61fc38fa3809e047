internal import Relay
internal import Wire

/// Rooms with settings and members of their own: what reaches a user who may not read it, and what is
/// withheld from one who may.
extension Witness {
  func rights(_ room: String) -> Rights { referee.ledger.room(room).rights }

  /// Checks that nothing in a message is hidden from the user. Of messages to adversaries only this is
  /// checked.
  func checkRights(_ message: ServerMessage) {
    switch message {
    case .message(let entry):
      checkReadable(entry, since: entry.seq - 1)
      checkNotEnded(entry.room, before: entry.seq)
    case .joined(let joined):
      if rights(joined.room).isGoverned, !isVisible(joined.room, since: joined.head) {
        fault("joined \(joined.room), which is hidden")
      }
    case .history(let page):
      let head = histories.first?.headAtLeast ?? headsAtStart[page.room] ?? 0
      for entry in page.entries { checkReadable(entry, since: head) }
    case .rooms(let summaries, _):
      let heads = roomsAsked.first ?? headsAtStart
      for summary in summaries where summary.head > 0 {
        if !isVisible(summary.room, since: heads[summary.room] ?? 0) {
          fault("rooms lists \(summary.room), which is hidden")
        }
        if let last = summary.last { checkReadable(last, since: heads[summary.room] ?? 0) }
      }
    case .activity(let activity):
      // A user that an entry lets in is told of that entry.
      if let last = activity.last { checkReadable(last, since: last.seq - 1) }
    case .receipt(_, let marks) where marks.user == user:
      // Also one who only lists the room gets their own.
      break
    case .receipt(let room, _), .typing(let room, _, _), .subscribers(let room, _):
      checkNotEnded(room, before: (rooms[room]?.cursor ?? 0) + 1)
    default: break
    }
  }

  private func isVisible(_ room: String, since head: Int64) -> Bool {
    rights(room).mayRead(.max, by: user, since: head, referee.latestWall)
  }

  private func checkReadable(_ entry: Entry, since head: Int64) {
    if !rights(entry.room).mayRead(entry.seq, by: user, since: head, referee.latestWall) {
      fault("\(entry.room) \(entry.seq) is not for the user")
    }
  }

  /// Checks that a subscription has not ended with an earlier entry.
  private func checkNotEnded(_ name: String, before seq: Int64) {
    guard let room = rooms[name], room.isJoined,
      let end = rights(name).end(before: seq, of: user, since: room.joinedAt)
    else { return }
    fault("\(name) \(end) has ended the subscription, which goes on at \(seq)")
  }

  /// Takes the end of a subscription by an entry.
  func take(_ departure: ServerMessage.Departure, of name: String) {
    referee.tally.count(.departed)
    guard let room = rooms[name], room.isJoined else {
      fault("\(departure) of \(name), which is not joined")
      return
    }
    if !rights(name).mayEnd(departure.seq, for: user) {
      fault("\(departure) does not end the subscription to \(name)")
    }
    // The entry that makes a room private is its members'.
    let last = departure.role == nil ? departure.seq - 1 : departure.seq
    if room.cursor != last, referee.ledger.room(name).first <= room.cursor + 1 {
      fault("left \(name) at \(room.cursor), not \(last)")
    }
    rooms[name]?.isJoined = false
  }

  /// Whether a page is that of a room which does not exist for the user.
  func isHidden(_ page: ServerMessage.HistoryPage, since head: Int64) -> Bool {
    guard page.head == 0, page.entries.isEmpty,
      rights(page.room).isGoverned, rights(page.room).mayHide(from: user, since: head)
    else { return false }
    referee.tally.count(.hidden)
    return true
  }

  /// Returns the highest first entry that a page or a `joined` may name.
  func firstShown(_ name: String, since head: Int64) -> Int64 {
    let room = referee.ledger.room(name)
    return max(room.first, room.rights.firstShown(to: user, since: head, referee.latestWall))
  }

  /// Takes the refusal of a request by the rules of a room.
  func takeRefusal(_ error: WireError, in room: String) {
    referee.tally.count(error.code == .noSuchRoom ? .hidden : .forbidden)
    let text = "\(error.re.map { "\($0)" } ?? "") of \(room) was refused: \(error.code)"
    switch error.re {
    case .send:
      let fate = fates.first { $0.id == error.id && $0.room == room && $0.answer == nil }
      if let fate, !rights(room).mayRefuse(fate.send, of: user, since: fate.head) {
        fault("\(fate.send.kind.rawValue) \(fate.id): \(text)")
      }
      answer(room, error.id ?? "", .rejected)
    case .join:
      let joins = rooms[room]?.pending.indices.filter { rooms[room]?.pending[$0].isJoin == true }
      // A join that retention makes necessary is not the client's.
      var head = rooms[room]?.joinedAt ?? 0
      if let first = joins?.first, case .join(_, let asked, _)? = rooms[room]?.pending[first] {
        head = asked
        // Of several, some are never answered, and the answers cannot be told apart.
        if joins?.count == 1 { rooms[room]?.pending.remove(at: first) }
      }
      if !rights(room).mayHide(from: user, since: head) { fault(text) }
      rooms[room]?.isJoined = false
    case .history:
      let head = histories.isEmpty ? 0 : histories.removeFirst().headAtLeast
      if !rights(room).mayHide(from: user, since: head) { fault(text) }
    case .leave:
      // Only an entry ends what an entry began.
      if let leave = rooms[room]?.pending.firstIndex(where: { !$0.isJoin }) {
        rooms[room]?.pending.remove(at: leave)
      }
    default: fault(text)
    }
  }

  /// Checks that a complete list has the rooms of which entries have made the user a member.
  func checkListed(_ names: Set<String>, since heads: [String: Int64]) {
    for den in Simulation.dens where !names.contains(den) {
      // An invitation by a blocked user is not listed until the user joins.
      let blocked = referee.ledger.blocks.states(of: user).reduce(into: Set()) { $0.formUnion($1) }
      if rights(den).inviters(of: user).contains(where: blocked.contains) { continue }
      if rights(den).isMember(user, since: heads[den] ?? 0) {
        fault("rooms lacks \(den), of which the user is a member")
      }
    }
  }
}
