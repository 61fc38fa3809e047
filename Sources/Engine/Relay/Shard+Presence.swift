import DequeModule
import HeapModule
import Wire

/// A user as one loop knows them.
struct LocalUser {
  /// The first session; the next is in the session.
  var firstSession = Link<Session>.none
  /// What the log was told that the sessions here come to.
  var told = Presence.offline
  /// When the last session ended, in milliseconds of the monotonic clock.
  var leftAt: Int64 = 0
}

/// Who is there: what sessions here come to is told to the log, and what the log makes of it over
/// all loops to those who have asked.
extension Shard {
  /// Who has gone for no longer has not gone: connections are lost and made again.
  static let departureMilliseconds: Int64 = 3000
  /// Changes of one user are told at most so often.
  static let presenceMilliseconds: Int64 = 1000
  /// So many users a connection is told about, those that it asked for last.
  static let watchedUserLimit = 2000

  // MARK: - Of the sessions here

  /// A session came or went, or is away now or not any more.
  mutating func notePresence(of user: String) {
    let presence = localPresence(of: user)
    if presence == .offline {
      departures.append(user)
    } else {
      tellPresence(of: user, presence)
    }
  }

  private func localPresence(of user: String) -> Presence {
    var presence = Presence.offline
    var next = localUsers[user]?.firstSession.slot
    while let index = next {
      let session = sessions[index]
      if session.isPresence {
        if !session.isAway { return .online }
        presence = .away
      }
      next = session.nextOfUser.slot
    }
    return presence
  }

  mutating func tellPresence(of user: String, _ presence: Presence) {
    guard let told = localUsers[user]?.told else { return }
    if told != presence {
      localUsers[user]?.told = presence
      ask(.presence(user: user, from: told, to: presence))
    }
    if presence == .offline, localUsers[user]?.firstSession.isNone == true {
      localUsers[user] = nil
    }
  }

  /// Gives those who went a while to come back.
  mutating func noteDepartures(_ now: Moment) {
    for user in departures where localPresence(of: user) == .offline {
      guard let told = localUsers[user]?.told else { continue }
      if told == .offline || isShuttingDown {
        tellPresence(of: user, .offline)
      } else {
        localUsers[user]?.leftAt = now.monotonic
        timers.insert(
          ShardTimer(at: now.monotonic + Self.departureMilliseconds, kind: .departure(user)))
      }
    }
    departures.removeAll(keepingCapacity: true)
  }

  mutating func depart(_ user: String, _ now: Moment) {
    guard let leftAt = localUsers[user]?.leftAt, localPresence(of: user) == .offline,
      // Who came and went again meanwhile has a later timer.
      now.monotonic >= leftAt + Self.departureMilliseconds
    else { return }
    tellPresence(of: user, .offline)
  }

  /// The client says whether it is away.
  mutating func setAway(_ isAway: Bool, _ index: Slot<Session>) {
    guard sessions[index].isAway != isAway else { return }
    sessions[index].isAway = isAway
    notePresence(of: sessions[index].user)
  }

  // MARK: - Of everybody

  func presence(of user: String) -> Presence { presences[user] ?? .offline }

  /// Somebody came, went, or is away.
  mutating func apply(_ change: Commit.PresenceChange, _ now: Moment) {
    presences[change.user] = change.presence == .offline ? nil : change.presence
    guard let index = watchedUserIndices[change.user] else { return }
    watchedUsers[index].presence = change.presence
    watchedUsers[index].at = change.at
    if watchedUsers[index].isHeld {
      watchedUsers[index].hasChanged = true
    } else {
      broadcastPresence(ofWatched: index, now)
    }
  }

  private mutating func broadcastPresence(ofWatched index: Slot<WatchedUser>, _ now: Moment) {
    let key = EphemeralKey(
      kind: .presence, room: .none, generation: 0, user: watchedUsers[index].name)
    removeFormerWatchers(of: index)
    guard watchedUsers.contains(index) else { return }
    encodePresence(ofWatched: index)
    for watcher in watchedUsers[index].watchers { emit(key, to: watcher.slot) }
    watchedUsers[index].isHeld = true
    watchedUsers[index].hasChanged = false
    timers.insert(
      ShardTimer(
        at: now.monotonic + Self.presenceMilliseconds,
        kind: .presence(watched: index, generation: watchedUsers[index].generation)))
  }

  mutating func tellLatePresence(
    ofWatched index: Slot<WatchedUser>, _ generation: UInt32, _ now: Moment
  ) {
    guard watchedUsers.contains(index), watchedUsers[index].generation == generation
    else { return }
    watchedUsers[index].isHeld = false
    if watchedUsers[index].hasChanged { broadcastPresence(ofWatched: index, now) }
  }

  /// Lays the message into `frame`.
  private mutating func encodePresence(ofWatched index: Slot<WatchedUser>) {
    let watched = watchedUsers[index]
    scratch.removeAll(keepingCapacity: true)
    ServerMessage.presence(
      ServerMessage.UserPresence(
        user: watched.name, presence: watched.presence, lastSeen: watched.at)
    ).append(to: &scratch)
    frameScratch()
  }

  /// Lays what a session that reads again is to be told into `frame`.
  /// - Returns: whether it still wants to know.
  mutating func encodePresence(of user: String, to index: Slot<Session>) -> Bool {
    guard let watched = watchedUserIndices[user],
      sessions[index].extras?.watchedUserSet.contains(watched) == true
    else { return false }
    encodePresence(ofWatched: watched)
    return true
  }

  // MARK: - Watching

  /// The session is told of a user's presence from now on.
  /// - Parameter lastSeen: when the user was last there, if that is known.
  mutating func watch(_ user: String, lastSeen: Int64?, _ session: Slot<Session>) {
    let index = watchedUser(user)
    if watchedUsers[index].at == nil { watchedUsers[index].at = lastSeen }
    let extras = extras(of: session)
    guard extras.watchedUserSet.insert(index).inserted else { return }
    extras.watchedUsers.append(index)
    if watchedUsers[index].watchers.count == watchedUsers[index].watchers.capacity {
      removeFormerWatchers(of: index, keepingPlace: true)
    }
    watchedUsers[index].watchers.append(id(of: session))
    if extras.watchedUsers.count > Self.watchedUserLimit,
      let oldest = extras.watchedUsers.popFirst()
    {
      extras.watchedUserSet.remove(oldest)
      removeFormerWatchers(of: oldest)
    }
  }

  func isWatching(_ user: String, _ session: Slot<Session>) -> Bool {
    guard let index = watchedUserIndices[user] else { return false }
    return sessions[session].extras?.watchedUserSet.contains(index) == true
  }

  private mutating func watchedUser(_ name: String) -> Slot<WatchedUser> {
    if let index = watchedUserIndices[name] { return index }
    let index = watchedUsers.insert(
      WatchedUser(name: name, generation: nextGeneration(), presence: presence(of: name)))
    watchedUserIndices[name] = index
    return index
  }

  /// Those who have ceased to watch are found out here, so that a session's end costs nothing for
  /// each of the thousands that it watched.
  private mutating func removeFormerWatchers(
    of index: Slot<WatchedUser>, keepingPlace: Bool = false
  ) {
    var watchers: [SessionID] = []
    swap(&watchers, &watchedUsers[index].watchers)
    watchers.removeAll { id in
      !isCurrent(id) || sessions[id.slot].extras?.watchedUserSet.contains(index) != true
    }
    swap(&watchers, &watchedUsers[index].watchers)
    guard watchedUsers[index].watchers.isEmpty, !keepingPlace else { return }
    watchedUserIndices[watchedUsers[index].name] = nil
    watchedUsers.remove(index)
  }
}
