import Wire

/// The rooms of a loop, and which sessions subscribe to them.
extension Shard {
  /// The room's place, made if need be.
  mutating func room(named name: String) -> Slot<Room> {
    if let index = roomIndices[name] { return index }
    let index = rooms.insert(Room(name: name, generation: nextGeneration()))
    roomIndices[name] = index
    return index
  }

  mutating func releaseIfUnused(_ index: Slot<Room>) {
    guard rooms[index].isUnused else { return }
    roomIndices[rooms[index].name] = nil
    rooms.remove(index)
  }

  /// The session's subscription to the room, unless it has been left.
  func subscription(of session: Slot<Session>, to room: String) -> Slot<Subscription>? {
    guard let room = roomIndices[room] else { return nil }
    return subscription(of: session, toRoom: room)
  }

  func subscription(of session: Slot<Session>, toRoom room: Slot<Room>) -> Slot<Subscription>? {
    var next = sessions[session].firstSubscription.slot
    while let place = next {
      let subscription = subscriptions[place]
      if subscription.room == room, subscription.isWanted { return place }
      next = subscription.next.slot
    }
    return nil
  }

  /// The oldest subscription that waits for the log's answer about this room.
  func subscribing(of session: Slot<Session>, to room: Slot<Room>) -> Slot<Subscription>? {
    var found: Slot<Subscription>?
    var next = sessions[session].firstSubscription.slot
    while let place = next {
      let subscription = subscriptions[place]
      if subscription.room == room, subscription.isUnanswered { found = place }
      next = subscription.next.slot
    }
    return found
  }

  mutating func addSubscription(
    of session: Slot<Session>, to room: Slot<Room>, wantsSubscribers: Bool
  ) {
    let subscription = Subscription(
      state: .subscribing, wantsSubscribers: wantsSubscribers, session: session, room: room,
      cursor: 0, next: sessions[session].firstSubscription, place: nil)
    sessions[session].firstSubscription = Link(subscriptions.insert(subscription))
    sessions[session].subscriptionCount += 1
    rooms[room].uses += 1
  }

  /// Ends a subscription; one that the log has not answered yet lives on as `abandoned`, unless the
  /// session itself ends.
  mutating func end(_ index: Slot<Subscription>, tellLog: Bool) {
    let subscription = subscriptions[index]
    let session = subscription.session
    let room = subscription.room
    noteJoined(index, false)
    leaveRoom(index)
    // Unlink from the session's list.
    if sessions[session].firstSubscription.slot == index {
      sessions[session].firstSubscription = subscription.next
    } else {
      var next = sessions[session].firstSubscription.slot
      while let before = next {
        next = subscriptions[before].next.slot
        if next == index {
          subscriptions[before].next = subscription.next
          break
        }
      }
    }
    sessions[session].subscriptionCount -= 1
    sessions[session].lagging.removeAll { $0 == index }
    if tellLog, subscription.state == .live || subscription.state == .lagging {
      ask(.unsubscribe(room: rooms[room].name, user: sessions[session].user))
    }
    subscriptions.remove(index)
    rooms[room].uses -= 1
    releaseIfUnused(room)
  }

  /// Takes a subscription out of its room's list.
  mutating func leaveRoom(_ index: Slot<Subscription>) {
    guard let place = subscriptions[index].place else { return }
    let room = subscriptions[index].room
    let last = rooms[room].subscribers.removeLast()
    if last != index {
      rooms[room].subscribers[Int(place)] = last
      subscriptions[last].place = place
    }
    subscriptions[index].place = nil
  }

  mutating func ask(_ request: LogRequest) {
    requests.append(request)
    gatheredBytes += 64
  }
}
