import Wire

/// The rooms of a loop, and which sessions subscribe to them.
extension Shard {
  /// The room's place, made if need be.
  mutating func room(named name: String) -> Int32 {
    if let index = roomIndices[name] { return index }
    var room = Room()
    room.name = name
    let index: Int32
    if let free = freeRooms.popLast() {
      room.generation = rooms[Int(free)].generation
      rooms[Int(free)] = room
      index = free
    } else {
      rooms.append(room)
      index = Int32(rooms.count - 1)
    }
    roomIndices[name] = index
    return index
  }

  mutating func releaseIfUnused(_ index: Int32) {
    guard rooms[Int(index)].isUnused, !rooms[Int(index)].name.isEmpty else { return }
    roomIndices[rooms[Int(index)].name] = nil
    let generation = rooms[Int(index)].generation
    rooms[Int(index)] = Room()
    rooms[Int(index)].generation = generation &+ 1
    freeRooms.append(index)
  }

  /// The session's subscription to the room, unless it has been left.
  func subscription(of session: Int, to room: String) -> Int32? {
    guard let room = roomIndices[room] else { return nil }
    return subscription(of: session, toRoom: room)
  }

  func subscription(of session: Int, toRoom room: Int32) -> Int32? {
    var index = sessions[session].firstSubscription
    while index >= 0 {
      let subscription = subscriptions[Int(index)]
      if subscription.room == room, subscription.isWanted { return index }
      index = subscription.next
    }
    return nil
  }

  /// The oldest subscription that waits for the log's answer about this room.
  func subscribing(of session: Int, to room: Int32) -> Int32? {
    var found: Int32?
    var index = sessions[session].firstSubscription
    while index >= 0 {
      let subscription = subscriptions[Int(index)]
      if subscription.room == room, subscription.isUnanswered { found = index }
      index = subscription.next
    }
    return found
  }

  mutating func addSubscription(
    of session: Int, to room: Int32, wantsSubscribers: Bool
  ) {
    let subscription = Subscription(
      state: .subscribing, wantsSubscribers: wantsSubscribers, session: Int32(session), room: room,
      cursor: 0, next: sessions[session].firstSubscription, place: -1)
    let index: Int32
    if let free = freeSubscriptions.popLast() {
      subscriptions[Int(free)] = subscription
      index = free
    } else {
      subscriptions.append(subscription)
      index = Int32(subscriptions.count - 1)
    }
    sessions[session].firstSubscription = index
    sessions[session].subscriptionCount += 1
    rooms[Int(room)].uses += 1
  }

  /// Ends a subscription; one that the log has not answered yet lives on as `abandoned`, unless the
  /// session itself ends.
  mutating func end(_ index: Int32, tellLog: Bool) {
    let subscription = subscriptions[Int(index)]
    let session = Int(subscription.session)
    let room = subscription.room
    noteJoined(index, false)
    leaveRoom(index)
    // Unlink from the session's list.
    if sessions[session].firstSubscription == index {
      sessions[session].firstSubscription = subscription.next
    } else {
      var before = sessions[session].firstSubscription
      while subscriptions[Int(before)].next != index { before = subscriptions[Int(before)].next }
      subscriptions[Int(before)].next = subscription.next
    }
    sessions[session].subscriptionCount -= 1
    sessions[session].lagging.removeAll { $0 == index }
    if tellLog, subscription.state == .live || subscription.state == .lagging {
      ask(.unsubscribe(room: rooms[Int(room)].name, user: sessions[session].user))
    }
    subscriptions[Int(index)].state = .free
    freeSubscriptions.append(index)
    rooms[Int(room)].uses -= 1
    releaseIfUnused(room)
  }

  /// Takes a subscription out of its room's list.
  mutating func leaveRoom(_ index: Int32) {
    let place = Int(subscriptions[Int(index)].place)
    guard place >= 0 else { return }
    let room = Int(subscriptions[Int(index)].room)
    let last = rooms[room].subscribers.removeLast()
    if last != index {
      rooms[room].subscribers[place] = last
      subscriptions[Int(last)].place = Int32(place)
    }
    subscriptions[Int(index)].place = -1
  }

  mutating func ask(_ request: LogRequest) {
    requests.append(request)
    gatheredBytes += 64
  }
}
