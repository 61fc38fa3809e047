import Wire

/// Subscriptions: sessions to rooms.
extension Shard {
  /// Returns the session's subscription to the room, unless it has left the room.
  func subscription(of session: Slot<Session>, to room: String) -> Slot<Subscription>? {
    guard let room = rooms.find(room) else { return nil }
    return subscription(of: session, toRoom: room)
  }

  func subscription(of session: Slot<Session>, toRoom room: Slot<Room>) -> Slot<Subscription>? {
    subscriptions.first(in: sessions[session].firstSubscription) {
      $0.room == room && $0.isWanted
    }
  }

  /// Returns the oldest subscription that waits for the log's answer about this room.
  func subscribing(of session: Slot<Session>, to room: Slot<Room>) -> Slot<Subscription>? {
    subscriptions.slots(in: sessions[session].firstSubscription) {
      $0.room == room && $0.isUnanswered
    }.last
  }

  mutating func addSubscription(
    of session: Slot<Session>, to room: Slot<Room>, wantsSubscribers: Bool, ref: String?
  ) {
    var subscription = Subscription(session: session, room: room)
    subscription.wantsSubscribers = wantsSubscribers
    subscriptions.insert(subscription, into: &sessions[session].firstSubscription)
    sessions[session].subscriptionCount += 1
    retain(room)
    if let ref, let added = sessions[session].firstSubscription.slot {
      sessions.extras(of: session).joinRefs[added] = ref
    }
  }

  /// Returns the `ref` of the join that is answered now.
  func takeJoinRef(_ subscription: Slot<Subscription>) -> String? {
    sessions[subscriptions[subscription].session].extras?.joinRefs.removeValue(
      forKey: subscription)
  }

  /// Ends a subscription.
  /// - Parameter tellLog: whether the log is told, if it counts the subscription.
  mutating func end(_ index: Slot<Subscription>, tellLog: Bool) {
    let subscription = subscriptions[index]
    let session = subscription.session
    let room = subscription.room
    setJoined(index, false)
    _ = takeJoinRef(index)
    if subscription.isEnding { sessions[session].extras?.departures[index] = nil }
    subscriptions.remove(index, from: &rooms[room].subscribers)
    sessions[session].lagging.removeAll { $0 == index }
    if tellLog, subscription.isSubscribed {
      log.append(.unsubscribe(room: rooms[room].name, user: sessions[session].user))
    }
    subscriptions.remove(index, from: &sessions[session].firstSubscription)
    sessions[session].subscriptionCount -= 1
    release(room)
  }

  /// A subscription starts or ceases to count as joined.
  mutating func setJoined(_ index: Slot<Subscription>, _ isJoined: Bool) {
    let subscription = subscriptions[index]
    guard subscription.isJoined != isJoined else { return }
    subscriptions[index].isJoined = isJoined
    roomLists.setJoined(subscription.room, subscription.session, isJoined, in: self)
  }
}
