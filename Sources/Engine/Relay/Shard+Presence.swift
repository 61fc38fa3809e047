import HeapModule
import Wire

/// Presence: what the sessions of this loop amount to is told to the log; what the log makes of it
/// over all loops is told to the sessions that watch.
extension Shard {
  /// How long a user stays online after the last session, because connections are lost and made again.
  static let departureMilliseconds: Int64 = 3000
  /// Changes of one user are sent at most once per interval.
  static let presenceMilliseconds: Int64 = 1000

  // MARK: - The sessions of this loop

  /// A session began or ended, or `isAway` has changed.
  mutating func notePresence(of user: String) {
    let presence = sessions.presence(of: user)
    if presence == .offline {
      departures.append(user)
    } else {
      publishPresence(of: user, presence)
    }
  }

  mutating func publishPresence(of user: String, _ presence: Presence) {
    guard let published = sessions.users[user]?.published else { return }
    if published != presence {
      sessions.users[user]?.published = presence
      log.append(.presence(user: user, from: published, to: presence))
    }
    if presence == .offline, sessions.first(of: user) == nil {
      sessions.forget(user)
    }
  }

  /// Gives users whose last session has ended some time to come back.
  mutating func waitForDepartures(_ now: Moment) {
    for user in departures where sessions.presence(of: user) == .offline {
      guard let published = sessions.users[user]?.published else { continue }
      if published == .offline || isShuttingDown {
        publishPresence(of: user, .offline)
      } else {
        sessions.leftAt[user] = now.monotonic
        timers.insert(
          ShardTimer(at: now.monotonic + Self.departureMilliseconds, kind: .departure(user)))
      }
    }
    departures.removeAll(keepingCapacity: true)
  }

  mutating func depart(_ user: String, _ now: Moment) {
    // A user who has come back and left again has a later timer.
    guard let leftAt = sessions.leftAt[user],
      now.monotonic >= leftAt + Self.departureMilliseconds
    else { return }
    sessions.leftAt[user] = nil
    if sessions.presence(of: user) == .offline { publishPresence(of: user, .offline) }
  }

  /// The client says whether its user is away.
  mutating func setAway(_ isAway: Bool, _ session: Slot<Session>) {
    guard sessions[session].isAway != isAway else { return }
    sessions[session].isAway = isAway
    notePresence(of: sessions[session].user)
  }

  // MARK: - All users

  func presence(of user: String) -> Presence { sessions.overallPresence(of: user) }

  mutating func applyPresence(_ change: Commit.PresenceChange, _ now: Moment) {
    sessions.setOverallPresence(of: change.user, change.presence)
    guard let user = watchedUsers.find(change.user) else { return }
    watchedUsers[user].presence = change.presence
    watchedUsers[user].at = change.at
    if watchedUsers[user].isHeld {
      watchedUsers[user].hasChanged = true
    } else {
      broadcastPresence(user, now)
    }
  }

  private mutating func broadcastPresence(_ user: Slot<WatchedUser>, _ now: Moment) {
    watchedUsers.releaseIfUnwatched(user, sessions)
    guard watchedUsers.contains(user) else { return }
    let key = EphemeralKey(.presence, nil, watchedUsers[user].name)
    encodePresence(user)
    for watcher in watchedUsers[user].watchers { inform(watcher.slot, key) }
    watchedUsers[user].isHeld = true
    watchedUsers[user].hasChanged = false
    timers.insert(
      ShardTimer(
        at: now.monotonic + Self.presenceMilliseconds, kind: .presence(watchedUsers.handle(user))))
  }

  mutating func sendLatePresence(_ user: Handle<WatchedUser>, _ now: Moment) {
    guard watchedUsers.contains(user) else { return }
    watchedUsers[user.slot].isHeld = false
    if watchedUsers[user.slot].hasChanged { broadcastPresence(user.slot, now) }
  }

  private mutating func encodePresence(_ user: Slot<WatchedUser>) {
    let watched = watchedUsers[user]
    encode(
      .presence(
        ServerMessage.UserPresence(
          user: watched.name, presence: watched.presence, lastSeen: watched.at)))
  }

  /// Encodes the presence of a watched user for a session that reads again.
  mutating func encodePresence(of user: String) {
    if let watched = watchedUsers.find(user) { encodePresence(watched) }
  }

  // MARK: - Watching

  /// Makes the session receive a user's presence.
  /// - Parameter lastSeen: when the user was last online, if known.
  mutating func watch(_ user: String, lastSeen: Int64?, _ session: Slot<Session>) {
    watchedUsers.watch(
      user, presence(of: user), lastSeen: lastSeen, sessions.id(of: session), &sessions)
  }

  func isWatching(_ user: String, _ session: Slot<Session>) -> Bool {
    guard let watched = watchedUsers.find(user) else { return false }
    return sessions[session].extras?.watchedUserSet.contains(watched) == true
  }
}
