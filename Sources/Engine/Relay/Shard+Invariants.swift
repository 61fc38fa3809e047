/// What holds between turns, in builds with assertions: those of the tests, the simulation and the
/// fuzzer.
extension Shard {
  /// Traps if something does not hold of the sessions that this turn has flushed.
  /// - Returns: true, so that it can be called in an assertion.
  func areConsistent(_ flushed: [Slot<Session>]) -> Bool {
    for session in flushed where sessions.contains(session) { checkSession(session) }
    return true
  }

  private func checkSession(_ id: Slot<Session>) {
    let session = sessions[id]
    assert(session.owedBytes >= 0, "the log has answered more than it was asked")
    assert(session.outboxTaken <= session.outbox.count, "more was written than queued")
    assert(!session.isDirty || dirty.contains(id), "a dirty session is flushed by the next turn")
    let chain = subscriptions.slots(in: session.firstSubscription) { _ in true }
    assert(chain.count == session.subscriptionCount, "a session counts its subscriptions")
    assert(chain.isEmpty || !session.isClosing, "a session that closes has no subscription")
    for index in chain { checkSubscription(index, session) }
  }

  private func checkSubscription(_ index: Slot<Subscription>, _ session: borrowing Session) {
    let subscription = subscriptions[index]
    let room = rooms[subscription.room]
    assert(
      (subscription.isSubscribed && !subscription.isEnding) == (subscription.place != nil),
      "from the log's answer on, a subscription is in its room's list, until an entry ends it")
    if let place = subscription.place { assert(room.subscribers[Int(place)] == index) }
    assert(
      session.lagging.contains(index) == (subscription.state == .lagging),
      "a cursor that lags has its turn")
    guard subscription.isSubscribed else { return }
    assert(subscription.cursor <= room.head, "a cursor is never beyond the head")
    assert(
      subscription.state == .lagging || subscription.cursor == room.head
        || !room.staged.first.isNone,
      "a live cursor is at the head, unless entries wait to share a write")
  }
}
