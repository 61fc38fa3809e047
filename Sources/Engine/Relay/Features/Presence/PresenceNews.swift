import Wire

/// `presence`: tells each session of changes in the presence of the users that it watches, which are
/// those in its lists of people and rooms and the peers of its direct rooms. At most once per second
/// and user.
final class PresenceNews: Feature {
  private var users = WatchedUsers()
  private var throttle = Throttle<String, Void>(milliseconds: 1000)

  /// The watched users.
  var names: [String] { users.names.sorted() }

  /// Makes a session receive a user's presence.
  /// - Parameter lastSeen: when the user was last online, if known.
  func watch(
    _ user: String, lastSeen: Int64?, _ session: Slot<Session>,
    in audience: borrowing some Audience & ~Copyable
  ) {
    // What a separated session knows is not what the others may know.
    let known = audience.separation(of: user, session) == nil ? lastSeen : nil
    users.watch(user, audience.presence(of: user), lastSeen: known, audience.id(of: session))
  }

  func isWatching(_ user: String, _ session: SessionID) -> Bool {
    users.isWatching(user, session)
  }

  func end(_ session: Slot<Session>, in audience: inout some Audience & ~Copyable) {
    users.end(audience.id(of: session))
  }

  // MARK: - Changes

  /// Applies a change of a user's presence over all loops.
  func apply(
    _ change: Commit.PresenceChange, in audience: inout some Audience & ~Copyable, _ now: Moment
  ) {
    guard let user = users.find(change.user) else { return }
    users[user].presence = change.presence
    users[user].at = change.at
    guard throttle.holds(change.user) || users.releaseIfUnwatched(user) else { return }
    if throttle.admit((), for: change.user, now: now.monotonic) { tell(user, in: &audience) }
  }

  private func tell(_ user: Slot<WatchedUser>, in audience: inout some Audience & ~Copyable) {
    audience.encode(.presence(presence(of: user)))
    let key = EphemeralKey(.presence, nil, users[user].name)
    for watcher in users[user].watchers
    where audience.separation(of: key.user, watcher.slot) == nil {
      audience.inform(watcher.slot, key)
    }
  }

  /// Tells the sessions of `viewer` the presence of a user, after the two were separated, or are not any more.
  func tell(_ user: String, to viewer: String, in audience: inout some Audience & ~Copyable) {
    guard let watched = users.find(user), users[watched].presence != .offline else { return }
    audience.forEachSession(of: viewer) { audience, session in
      guard users.isWatching(user, audience.id(of: session)) else { return }
      encode(user, to: session, in: &audience)
      audience.inform(session, EphemeralKey(.presence, nil, user))
    }
  }

  private func presence(of user: Slot<WatchedUser>) -> ServerMessage.UserPresence {
    ServerMessage.UserPresence(
      user: users[user].name, presence: users[user].presence, lastSeen: users[user].at)
  }

  /// Encodes the presence of a watched user for a session.
  func encode(
    _ user: String, to session: Slot<Session>, in audience: inout some Audience & ~Copyable
  ) {
    guard let watched = users.find(user) else { return }
    var presence = presence(of: watched)
    if audience.separation(of: user, session) != nil {
      presence.presence = .offline
      presence.lastSeen = audience.lastSeen(presence.lastSeen, of: user, to: session)
    }
    audience.encode(.presence(presence))
  }

  // MARK: - Peers

  /// Makes a session that joined a direct room receive the presence of the other user, and tells it
  /// the present one.
  func watchPeer(
    inRoom room: String, _ session: Slot<Session>, in audience: inout some Audience & ~Copyable
  ) {
    let id = audience.id(of: session)
    guard let peer = RoomName.peer(in: room, of: audience.user(of: session)),
      !users.isWatching(peer, id)
    else { return }
    watch(peer, lastSeen: nil, session, in: audience)
    if audience.presence(of: peer, to: session) == .offline {
      audience.read(.lastSeen(id, [peer], for: .peer))
    } else {
      reply(peer, lastSeen: nil, to: session, in: &audience)
    }
  }

  /// Takes the times at which offline peers were last online.
  func answerPeers(
    _ seen: LogAnswer.Seen, to session: Slot<Session>, in audience: inout some Audience & ~Copyable
  ) {
    for user in seen.users {
      if let at = seen.at[user] { watch(user, lastSeen: at, session, in: audience) }
      reply(user, lastSeen: seen.at[user], to: session, in: &audience)
    }
  }

  private func reply(
    _ user: String, lastSeen: Int64?, to session: Slot<Session>,
    in audience: inout some Audience & ~Copyable
  ) {
    let presence = ServerMessage.UserPresence(
      user: user, presence: audience.presence(of: user, to: session),
      lastSeen: audience.lastSeen(lastSeen, of: user, to: session))
    audience.reply(.presence(presence), ref: nil, to: session)
  }

  // MARK: - Time

  var nextDeadline: Int64? { throttle.nextDeadline }

  func tick(in audience: inout some Audience & ~Copyable, _ now: Moment) {
    while let (name, _) = throttle.takeDue(now: now.monotonic) {
      if let user = users.find(name), users.releaseIfUnwatched(user) { tell(user, in: &audience) }
    }
  }

  var timerCount: Int { throttle.timerCount }
  var isLoose: Bool { users.isLoose || throttle.isLoose }

  func shrink() {
    users.shrink()
    throttle.shrink()
  }
}
