internal import Moderation
internal import Relay
internal import Wire

/// Who may read, send and change what in a room, replayed from its entries. Each entry with settings or a
/// role makes a state. An entry is judged by the state at its place; what reaches a client by those that
/// there have been since it asked.
struct Rights {
  struct State {
    /// The entry that made it; 0 = the room is new.
    var seq: Int64 = 0
    var at: Int64 = 0
    /// The head of the room before the commit of that entry.
    var headBefore: Int64 = 0
    /// `nil` = a room without rules, as one that does not exist.
    var rules: RoomRules?
    var standings: [String: Standing] = [:]
    /// Its sender, and what it has changed.
    var by = ""
    var member: MemberChange?
    var settings: RoomSettings.Change?
  }

  private var states = [State()]
  /// Whether entries are unknown that may have changed the room.
  private var isUnknown = false

  var isGoverned: Bool { !isUnknown && states.count > 1 }

  mutating func forgetAll() { isUnknown = true }
  mutating func cutBack(to head: Int64) { states.removeAll { $0.seq > head } }

  /// Takes the next entry of the room.
  /// - Returns: why it should have been refused.
  mutating func append(_ entry: Entry, headBefore: Int64) -> String? {
    guard !isUnknown else { return nil }
    let last = states[states.count - 1]
    do throws(RoomRules.Refusal) {
      guard
        var next = try last.next(
          entry.kind, entry.settings, entry.member, by: entry.from, seq: entry.seq, at: entry.at)
      else { return nil }
      (next.seq, next.at, next.headBefore) = (entry.seq, entry.at, headBefore)
      next.by = entry.from
      states.append(next)
      return nil
    } catch {
      return
        "\(entry.room) \(entry.seq), a \(entry.kind.rawValue), is not for \(entry.from) to send: \(error)"
    }
  }

  /// Returns why the last entry may not delete that of another user.
  func refusesDeletion(of author: String, by user: String, at: Int64) -> Bool {
    guard !isUnknown else { return false }
    guard let rules = states[states.count - 1].rules else { return true }
    let state = states[states.count - 1]
    do throws(RoomRules.Refusal) {
      try rules.checkDeleting(
        entryOf: state.standing(of: author), by: state.actor(user), now: at)
      return false
    } catch {
      return true
    }
  }

  /// Returns whether a user may read an entry, in some state since the room had this head.
  /// - Parameter now: the latest time of the clock: bans only end.
  func mayRead(_ seq: Int64, by user: String, since head: Int64, _ now: Int64) -> Bool {
    isUnknown
      || states(since: head).contains { $0.firstReadable(by: user, now).map { seq >= $0 } ?? false }
  }

  /// Returns whether there was a state since the room had this head in which it could not be read.
  func mayHide(from user: String, since head: Int64) -> Bool {
    isUnknown || states(since: head).contains { $0.firstReadable(by: user, $0.at) == nil }
  }

  /// Returns the first entry that must be shown to a user who reads the room.
  func firstShown(to user: String, since head: Int64, _ now: Int64) -> Int64 {
    if isUnknown { return .max }
    return states(since: head).compactMap { $0.firstReadable(by: user, now) }.max() ?? 1
  }

  /// Returns whether a send may be refused that was made when the room had this head.
  func mayRefuse(_ send: ClientMessage.Send, of user: String, since head: Int64) -> Bool {
    guard !isUnknown else { return true }
    return states(since: head).contains { state in
      if case .target(let target)? = send.reference,
        state.firstReadable(by: user, state.at).map({ target < $0 }) ?? true
      {
        return true
      }
      var (settings, member): (RoomSettings.Change?, MemberChange?)
      if case .settings(let change)? = send.reference { settings = change }
      if case .member(let change)? = send.reference { member = change }
      do throws(RoomRules.Refusal) {
        // Whether the user had joined an open room is not known here.
        _ = try state.next(
          send.kind, settings, member, by: user, takesPart: false, seq: .max, at: state.at)
        return false
      } catch {
        return true
      }
    }
  }

  /// Returns whether a user changes the room now, as its owner or a moderator.
  func governs(_ user: String) -> Bool {
    let state = states[states.count - 1]
    return isGoverned && [.owner, .moderator].contains(state.standing(of: user).role(state.at))
  }

  /// Returns whether a user was a member in every state since the room had this head.
  func isMember(_ user: String, since head: Int64) -> Bool {
    isGoverned && states(since: head).allSatisfy { $0.standing(of: user).isMember($0.at) }
  }

  /// Returns the users whose entries have named a user.
  func inviters(of user: String) -> [String] {
    states.filter { $0.member?.user == user }.map(\.by)
  }

  /// Returns whether the entry may end the subscriptions of a user. One that makes the room private does so for
  /// all users who have not been members since, when its commit ends.
  func mayEnd(_ seq: Int64, for user: String) -> Bool {
    isUnknown
      || states.contains { state in
        guard state.seq == seq, !state.ends(for: user) else { return state.seq == seq }
        let standing = lastState(of: state).standing(of: user)
        return state.settings?.access == .private
          && (!standing.isMember(state.at) || standing.since > seq)
      }
  }

  /// Returns whether a subscription that began at a head may have ended when the room had another one.
  func mayHaveEnded(_ range: ClosedRange<Int64>, for user: String) -> Bool {
    states.contains { range.contains($0.seq) && mayEnd($0.seq, for: user) }
  }

  /// Returns the last entry before `seq` that ended the user's subscription, which began when the room had
  /// the head `joined`.
  func end(before seq: Int64, of user: String, since joined: Int64) -> Int64? {
    guard !isUnknown else { return nil }
    return states.last { end in
      guard end.seq < seq, end.seq > joined, end.ends(for: user) else { return false }
      // A join in the same batch is answered if the user may read at the end of the batch.
      let isAnswered = joined >= end.headBefore
      return !isAnswered || lastState(of: end).firstReadable(by: user, end.at) == nil
    }?.seq
  }

  /// Returns the last state of the commit of another one.
  private func lastState(of state: State) -> State {
    states.last { $0.headBefore == state.headBefore } ?? state
  }

  /// Returns the state of a room with this head, and all that followed.
  private func states(since head: Int64) -> ArraySlice<State> {
    states[(states.lastIndex { $0.seq <= head } ?? 0)...]
  }
}

extension Rights.State {
  func standing(of user: String) -> Standing { standings[user] ?? .unnamed }

  fileprivate func actor(_ user: String) -> RoomRules.Actor {
    RoomRules.Actor(user, standing(of: user))
  }

  fileprivate func firstReadable(by user: String, _ now: Int64) -> Int64? {
    guard let rules else { return 1 }
    return rules.firstReadable(by: actor(user), now: now)
  }

  /// Whether the entry that made this state ends the subscriptions of a user.
  fileprivate func ends(for user: String) -> Bool {
    if let member { return member.user == user && (member.role == .none || member.role == .banned) }
    return settings?.access == .private && !standing(of: user).isMember(at)
  }

  /// Returns the state after an entry; `nil` if it stays.
  fileprivate func next(
    _ kind: EntryKind, _ settings: RoomSettings.Change?, _ member: MemberChange?,
    by user: String, takesPart: Bool = true, seq: Int64, at: Int64
  ) throws(RoomRules.Refusal) -> Self? {
    var next = self
    (next.settings, next.member) = (settings, member)
    guard var rules else {
      guard kind.isNotice else { return nil }
      guard let settings, seq == 1 else { throw .forbidden(reason: .notAnOwner) }
      let created = RoomRules.created(with: settings, at: seq, at)
      next.rules = created.rules
      next.standings[user] = created.owner
      return next
    }
    if let settings {
      try rules.change(settings, by: actor(user), now: at)
    } else if let member {
      if member.user == user, member.reason != nil {
        try rules.checkSending(.text, by: actor(user), lastTextAt: nil, now: at)
      }
      next.standings[member.user] = try rules.setRole(
        of: member.user, standing(of: member.user), to: member.role,
        Standing.Term(until: member.until), by: actor(user), takesPart: takesPart, at: seq, now: at)
    } else {
      let deed: RoomRules.Deed =
        switch kind {
        case .text: .text
        case .edit, .react: .change
        case .delete: .deletion
        default: .content
        }
      try rules.checkSending(deed, by: actor(user), lastTextAt: nil, now: at)
      return nil
    }
    next.rules = rules
    return next
  }
}
