import HeapModule
import Wire

/// Presence: what the sessions of this loop amount to is told to the log; what the log makes of it
/// over all loops is told to the sessions that watch.
extension Shard {
  /// How long a user stays online after the last session, because connections are lost and made again.
  static let departureMilliseconds: Int64 = 3000

  // MARK: - The sessions of this loop

  /// A session began or ended, or `isAway` has changed.
  mutating func updatePresence(of user: String) {
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
    updatePresence(of: sessions[session].user)
  }
}
