/// The subscriptions of one loop. Each is in the chain of its session, the latest first; from the
/// log's answer on, it is also in the list of its room's subscribers.
struct Subscriptions: ~Copyable {
  private var table = Slab(vacant: Subscription(session: Slot(0), room: Slot(0)))

  subscript(slot: Slot<Subscription>) -> Subscription {
    @inline(__always) unsafeAddress { unsafe UnsafePointer(table.address(of: slot)) }
    @inline(__always) unsafeMutableAddress { unsafe table.address(of: slot) }
  }

  var slots: [Slot<Subscription>] { table.slots }
  /// The number of slots, including free ones.
  var capacity: Int { table.capacity }

  mutating func shrink() { table.shrink() }

  // MARK: - The chain of a session

  mutating func insert(_ subscription: Subscription, into chain: inout OptionalSlot<Subscription>) {
    var subscription = subscription
    subscription.next = chain
    chain = OptionalSlot(table.insert(subscription))
  }

  /// Removes a subscription that is not in its room's list.
  mutating func remove(_ slot: Slot<Subscription>, from chain: inout OptionalSlot<Subscription>) {
    let following = table[slot].next
    if chain.slot == slot {
      chain = following
    } else if let before = first(in: chain, where: { $0.next.slot == slot }) {
      table[before].next = following
    }
    table.remove(slot)
  }

  /// Returns the latest subscription that `matches`.
  @inline(__always)
  func first(
    in chain: OptionalSlot<Subscription>, where matches: (Subscription) -> Bool
  ) -> Slot<Subscription>? {
    var next = chain.slot
    while let slot = next {
      if matches(table[slot]) { return slot }
      next = table[slot].next.slot
    }
    return nil
  }

  /// Returns the subscriptions that `match`, the latest first.
  func slots(
    in chain: OptionalSlot<Subscription>, where matches: (Subscription) -> Bool
  ) -> [Slot<Subscription>] {
    var slots: [Slot<Subscription>] = []
    var next = chain.slot
    while let slot = next {
      if matches(table[slot]) { slots.append(slot) }
      next = table[slot].next.slot
    }
    return slots
  }

  // MARK: - The list of a room

  mutating func add(_ slot: Slot<Subscription>, to list: inout [Slot<Subscription>]) {
    table[slot].place = Int32(list.count)
    list.append(slot)
  }

  /// Removes a subscription from its room's list if it is there: the last one takes its place.
  mutating func remove(_ slot: Slot<Subscription>, from list: inout [Slot<Subscription>]) {
    guard let place = table[slot].place else { return }
    let last = list.removeLast()
    if last != slot {
      list[Int(place)] = last
      table[last].place = place
    }
    table[slot].place = nil
  }
}
