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
    users.watch(
      user, audience.presence(of: user), lastSeen: lastSeen, audience.id(of: session))
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
    encode(user, in: &audience)
    let key = EphemeralKey(.presence, nil, users[user].name)
    for watcher in users[user].watchers { audience.inform(watcher.slot, key) }
  }

  private func encode(_ user: Slot<WatchedUser>, in audience: inout some Audience & ~Copyable) {
    let watched = users[user]
    audience.encode(
      .presence(
        ServerMessage.UserPresence(
          user: watched.name, presence: watched.presence, lastSeen: watched.at)))
  }

  /// Encodes the presence of a watched user for a session that reads again.
  func encode(_ user: String, in audience: inout some Audience & ~Copyable) {
    if let watched = users.find(user) { encode(watched, in: &audience) }
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
    if audience.presence(of: peer) == .offline {
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
      user: user, presence: audience.presence(of: user), lastSeen: lastSeen)
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
