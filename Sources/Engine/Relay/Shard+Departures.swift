import Wire

/// Subscriptions that an entry ends: the user was removed or banned, and the client gets what it lacks up to
/// that entry; or the room became private, and it gets what came before. Then it gets `left`, and nothing
/// after it.
extension Shard {
  mutating func end(_ departure: Commit.Departure) {
    guard let room = rooms.find(departure.room) else { return }
    forEachSession(of: departure.user) { shard, session in
      guard let index = shard.subscription(of: session, toRoom: room),
        shard.subscriptions[index].isSubscribed, !shard.subscriptions[index].isEnding
      else { return }
      shard.sessions.extras(of: session).departures[index] = departure.entry
      shard.subscriptions[index].isEnding = true
      // From here on it is not informed of anything else in the room.
      shard.setJoined(index, false)
      shard.subscriptions.remove(index, from: &shard.rooms[room].subscribers)
      if shard.subscriptions[index].state == .live { shard.lag(index) }
      shard.markDirty(session)
    }
  }

  /// The last entry that a cursor may reach now.
  func end(of index: Slot<Subscription>) -> Int64 {
    let subscription = subscriptions[index]
    guard subscription.isEnding else { return rooms[subscription.room].head }
    guard let entry = sessions[subscription.session].extras?.departures[index] else {
      return subscription.cursor
    }
    // One that has made the room private belongs to its members already.
    return entry.role == nil ? entry.seq - 1 : entry.seq
  }

  /// Ends a subscription that has got its last entry.
  mutating func depart(_ index: Slot<Subscription>) {
    let session = subscriptions[index].session
    let room = rooms[subscriptions[index].room].name
    let entry = sessions[session].extras?.departures[index]
    diagnostics.debug(
      sessions[session].connection, "An entry has ended a session's subscription.",
      [LogField("room", room)])
    end(index, tellLog: true)
    reply(.left(room: room, entry), to: session)
  }
}
