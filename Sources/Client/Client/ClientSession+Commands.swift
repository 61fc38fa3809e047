public import Platform
public import Wire

/// The user's commands. They may be called at any time: what cannot be done now is done when the
/// relay is connected.
extension ClientSession {
  /// Subscribes to a room, and again after every reconnection; a second call starts anew.
  ///
  /// - Parameter countingSubscribers: Whether to report the number of subscribed users.
  public mutating func join(
    _ room: String, from start: JoinStart = .head, countingSubscribers: Bool = false,
    _ actions: inout [Action]
  ) {
    let subscription = Subscription(
      room: room, from: start, countsSubscribers: countingSubscribers)
    let index: Int
    if let known = subscriptionIndex(of: room) {
      // The answers to earlier joins are still to come and must be ignored.
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
  /// - Parameter forgetting: Whether the user also gives up the membership of the room.
  public mutating func leave(
    _ room: String, forgetting: Bool = false, _ actions: inout [Action]
  ) {
    guard let index = subscriptionIndex(of: room) else { return }
    subscriptions.remove(at: index)
    guard isLive else { return }
    leaving[room, default: 0] += 1
    actions.append(.transmit(.leave(room: room, forget: forgetting)))
  }

  /// Returns the settings and members of a room; `nil` if it is not joined.
  public func membership(of room: String) -> Membership? {
    guard let index = subscriptionIndex(of: room), subscriptions[index].isJoined else { return nil }
    return subscriptions[index].membership
  }

  /// Sends an entry, repeatedly if necessary, until it is acknowledged or refused for good.
  ///
  /// - Parameter body: As in `Entry.body`.
  /// - Returns: The id that the relay's answer will carry.
  public mutating func send(
    _ kind: EntryKind, _ body: [UInt8], to room: String, at now: Instant,
    _ actions: inout [Action]
  ) -> String {
    idCount += 1
    let id = "\(idPrefix)-\(idCount)"
    send(.init(room: room, id: id, kind: kind, body: body), at: now, &actions)
    return id
  }

  /// Sends an entry whose id was chosen before, for example a stored one of an earlier run. It may
  /// have reached the relay already; its id makes the relay store it only once.
  public mutating func send(
    _ send: ClientMessage.Send, at now: Instant, _ actions: inout [Action]
  ) {
    outbox.append(send)
    pump(at: now, &actions)
  }

  /// Gives up an entry, unless it was sent.
  ///
  /// - Returns: Whether it was given up; an entry that was sent may have reached the relay.
  public mutating func withdraw(room: String, id: String) -> Bool {
    outbox.withdraw(room: room, id: id)
  }

  /// Marks a room's entries as received and read, up to these numbers; 0 leaves a mark unchanged.
  ///
  /// Marks are merged, so that each room sends at most one of either kind per interval.
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

  /// Sends a message that is useful only now (`typing`), or whose answer the user waits for
  /// (`history`, `rooms`). It is not repeated after a reconnection.
  ///
  /// - Returns: False if there is no connection.
  public func request(_ message: ClientMessage, _ actions: inout [Action]) -> Bool {
    guard isLive else { return false }
    actions.append(.transmit(message))
    return true
  }

  /// Gives up all lines and subscriptions, before the token of another user is used: lines of one user
  /// must not be sent as another's. There must be no connection.
  public mutating func forgetUser() {
    precondition(!isLive, "the lines of a connection may have been sent")
    outbox = Outbox()
    subscriptions = []
    leaving = [:]
  }

  // MARK: Implementation

  func subscriptionIndex(of room: String) -> Int? {
    if lastFound < subscriptions.count, subscriptions[lastFound].room == room { return lastFound }
    return subscriptions.firstIndex { $0.room == room }
  }

  /// Returns when a subscription's marks may be sent; `nil` if they are sent or must wait for
  /// `joined`.
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

  /// When the next line that has to wait may be sent; `nil` if no line has to wait.
  var nextSend: Instant? {
    guard mayPump, outbox.count > outbox.inFlight, outbox.inFlight < settings.window else {
      return nil
    }
    return outbox.nextLine
  }

  private var mayPump: Bool {
    isLive && !isCongested && reconnectAfterMilliseconds == nil
  }

  /// Hands out lines while the window and the connection allow it. No other pacing is needed: a
  /// relay that receives too much reads more slowly.
  public mutating func pump(at now: Instant, _ actions: inout [Action]) {
    guard mayPump else { return }
    while let send = outbox.next(at: now, window: settings.window) {
      if limits.frameBytes > 0, send.encodedBytes > limits.frameBytes {
        // The relay would close the connection because of it, every time.
        _ = outbox.remove(room: send.room, id: send.id)
        let error = WireError(
          .tooLarge,
          "a message of \(send.encodedBytes) bytes exceeds the relay's limit of"
            + " \(limits.frameBytes) bytes", re: .send, room: send.room, id: send.id)
        actions.append(.event(.refused(send, error)))
        continue
      }
      if outbox.inFlight == 1 { answeredAt = now }
      actions.append(.transmit(.send(send)))
    }
  }
}

extension ClientMessage.Send {
  /// The length of its JSON, for names and ids that need no escaping.
  var encodedBytes: Int {
    let frame = #"{"type":"send","room":"","id":"","kind":"",}"#
    return frame.utf8.count + room.utf8.count + id.utf8.count + kind.rawValue.utf8.count
      + body.count
  }
}
