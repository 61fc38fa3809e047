public import Platform
public import Wire

/// What the user wants. Everything here may be called at any time: what cannot be done now is
/// done when the relay is there.
extension ClientSession {
  /// Subscribes to a room, also after every break; a second call starts anew.
  ///
  /// - Parameter countingSubscribers: whether to be told how many users are subscribed.
  public mutating func join(
    _ room: String, from start: JoinStart = .head, countingSubscribers: Bool = false,
    _ actions: inout [Action]
  ) {
    let subscription = Subscription(
      room: room, from: start, countsSubscribers: countingSubscribers)
    let index: Int
    if let known = subscriptionIndex(of: room) {
      // Answers to earlier joins are on their way, and are not the one that counts.
      let asked = subscriptions[known].asked
      subscriptions[known] = subscription
      subscriptions[known].expect(answers: asked)
      index = known
    } else {
      subscriptions.append(subscription)
      index = subscriptions.count - 1
    }
    if isLive { actions.append(.transmit(subscriptions[index].ask())) }
  }

  /// Ends a subscription.
  ///
  /// - Parameter forgetting: whether the user shall no longer belong to the room.
  public mutating func leave(
    _ room: String, forgetting: Bool = false, _ actions: inout [Action]
  ) {
    guard let index = subscriptionIndex(of: room) else { return }
    subscriptions.remove(at: index)
    guard isLive else { return }
    leaving[room, default: 0] += 1
    actions.append(.transmit(.leave(room: room, forget: forgetting)))
  }

  /// Sends an entry: as often as it takes, until it is acknowledged or refused for good.
  ///
  /// - Parameter body: as in `Entry.body`.
  /// - Returns: the id by which the relay will answer.
  public mutating func send(
    _ kind: EntryKind, _ body: [UInt8], to room: String, at now: Instant,
    _ actions: inout [Action]
  ) -> String {
    idCount += 1
    let id = "\(idPrefix)-\(idCount)"
    send(.init(room: room, id: id, kind: kind, body: body), at: now, &actions)
    return id
  }

  /// Sends an entry whose id was chosen before: one that was kept, perhaps by an earlier run, and
  /// may have reached the relay already. Its id makes the relay keep it once.
  public mutating func send(
    _ send: ClientMessage.Send, at now: Instant, _ actions: inout [Action]
  ) {
    outbox.append(send)
    pump(at: now, &actions)
  }

  /// Marks a room's entries as received and read, up to these numbers; 0 leaves a mark as it is.
  ///
  /// Merged, so that each room costs at most one of either kind per interval.
  public mutating func mark(
    _ room: String, received: Int64 = 0, read: Int64 = 0, at now: Instant,
    _ actions: inout [Action]
  ) {
    guard let index = subscriptionIndex(of: room) else { return }
    subscriptions[index].marks.received = max(subscriptions[index].marks.received, received)
    subscriptions[index].marks.read = max(subscriptions[index].marks.read, read)
    if isLive, let due = markDeadline(of: subscriptions[index]), due <= now {
      sendMarks(of: index, at: now, &actions)
    }
  }

  /// Sends something that is of use only now (`typing`), or whose answer the user waits for
  /// (`history`, `rooms`): it is not repeated after a break.
  ///
  /// - Returns: false if there is no connection to send it on.
  public func request(_ message: ClientMessage, _ actions: inout [Action]) -> Bool {
    guard isLive else { return false }
    actions.append(.transmit(message))
    return true
  }

  // MARK: Inside

  func subscriptionIndex(of room: String) -> Int? {
    if lastFound < subscriptions.count, subscriptions[lastFound].room == room { return lastFound }
    return subscriptions.firstIndex { $0.room == room }
  }

  /// When a subscription's marks may leave; `nil` if they have, or must wait for `joined`.
  func markDeadline(of subscription: Subscription) -> Instant? {
    guard subscription.isJoined, subscription.marks.isPending else { return nil }
    return subscription.marks.sentAt?.adding(milliseconds: settings.markIntervalMilliseconds)
      ?? Instant(nanoseconds: 0)
  }

  mutating func sendMarks(of index: Int, at now: Instant, _ actions: inout [Action]) {
    guard subscriptions[index].isJoined, subscriptions[index].marks.isPending else { return }
    let room = subscriptions[index].room
    var marks = subscriptions[index].marks
    if marks.received > marks.sentReceived {
      actions.append(.transmit(.received(room: room, seq: marks.received)))
      marks.sentReceived = marks.received
    }
    if marks.read > marks.sentRead {
      actions.append(.transmit(.read(room: room, seq: marks.read)))
      marks.sentRead = marks.read
    }
    marks.sentAt = now
    subscriptions[index].marks = marks
  }

  /// When a line may leave that may not leave yet; `nil` if none waits for that.
  var nextSend: Instant? {
    guard mayPump, outbox.count > outbox.inFlight, outbox.inFlight < settings.window else {
      return nil
    }
    return outbox.nextLine
  }

  private var mayPump: Bool {
    isLive && !isCongested && reconnectAfterMilliseconds == nil
  }

  /// Hands out lines for as long as the window and the connection allow it. A relay that is sent too
  /// much reads more slowly, so that the window is pace enough.
  public mutating func pump(at now: Instant, _ actions: inout [Action]) {
    guard mayPump else { return }
    while let send = outbox.next(at: now, window: settings.window) {
      if limits.frameBytes > 0, send.encodedBytes > limits.frameBytes {
        // The relay would close the connection for it, each time anew.
        _ = outbox.remove(room: send.room, id: send.id)
        let error = WireError(
          .tooLarge,
          "a message of \(send.encodedBytes) bytes is longer than the relay takes:"
            + " \(limits.frameBytes) bytes", re: "send", room: send.room, id: send.id)
        actions.append(.event(.refused(send, error)))
        continue
      }
      if outbox.inFlight == 1 { answeredAt = now }
      actions.append(.transmit(.send(send)))
    }
  }
}

extension ClientMessage.Send {
  /// The length of its JSON, as the names and ids are that need no escaping.
  var encodedBytes: Int {
    let frame = #"{"type":"send","room":"","id":"","kind":"",}"#
    return frame.utf8.count + room.utf8.count + id.utf8.count + kind.rawValue.utf8.count
      + body.count
  }
}
