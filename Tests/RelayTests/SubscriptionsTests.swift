import Testing
import Wire

@testable import Relay

@Suite final class `The subscriptions of a loop` {
  private var subscriptions = Subscriptions()
  private var chain = OptionalSlot<Subscription>.none

  private func add(_ room: Int) -> Slot<Subscription> {
    subscriptions.insert(Subscription(session: Slot(0), room: Slot(room)), into: &chain)
    return chain.slot ?? Slot(0)
  }

  private var rooms: [Int32] {
    subscriptions.slots(in: chain) { _ in true }.map { subscriptions[$0].room.place }
  }

  @Test func `are in the chain of their session, the latest first`() {
    for room in 1...4 { _ = add(room) }
    #expect(rooms == [4, 3, 2, 1])
    #expect(subscriptions.first(in: chain) { $0.room == Slot(2) } != nil)
    #expect(subscriptions.first(in: chain) { $0.room == Slot(9) } == nil)
  }

  @Test(arguments: [1, 2, 3]) func `leave the chain at any position`(_ room: Int) {
    let slots = (1...3).map { add($0) }
    subscriptions.remove(slots[room - 1], from: &chain)
    #expect(rooms == [3, 2, 1].filter { $0 != room })
    subscriptions.remove(slots[room % 3], from: &chain)
    subscriptions.remove(slots[(room + 1) % 3], from: &chain)
    #expect(chain.isNone)
  }

  @Test(arguments: [0, 1, 2]) func `leave the list of their room at any position`(
    _ place: Int
  ) {
    var list: [Slot<Subscription>] = []
    let slots = (0..<3).map { _ in add(1) }
    for slot in slots { subscriptions.add(slot, to: &list) }
    subscriptions.remove(slots[place], from: &list)
    #expect(subscriptions[slots[place]].place == nil)
    #expect(Set(list) == Set(slots).subtracting([slots[place]]))
    for (index, slot) in list.enumerated() { #expect(subscriptions[slot].place == Int32(index)) }
    subscriptions.remove(slots[place], from: &list)
    #expect(list.count == 2)
  }
}

@Suite final class `The sessions of a loop` {
  private var sessions = Sessions()

  private func add(_ user: String, isPresence: Bool = true, isAway: Bool = false)
    -> Slot<Session>
  {
    var session = Session(connection: 1)
    session.isPresence = isPresence
    session.isAway = isAway
    let slot = sessions.insert(session)
    sessions.link(slot, to: user)
    return slot
  }

  private func slots(of user: String) -> [Slot<Session>] {
    var slots: [Slot<Session>] = []
    var next = sessions.first(of: user)
    while let slot = next {
      slots.append(slot)
      next = sessions[slot].nextOfUser.slot
    }
    return slots
  }

  @Test(arguments: [0, 1, 2]) func `leave the chain of their user at any position`(
    _ place: Int
  ) {
    let all = (0..<3).map { _ in add("ada") }
    let other = add("bo")
    sessions.remove(all[place])
    #expect(Set(slots(of: "ada")) == Set(all).subtracting([all[place]]))
    #expect(slots(of: "bo") == [other])
  }

  @Test func `that have ended are not found by their ids, nor are later ones`() {
    let ada = add("ada")
    let id = sessions.id(of: ada)
    #expect(sessions.contains(id) == true)
    sessions.remove(id.slot)
    #expect(sessions.contains(id) == false)
    let bo = add("bo")
    #expect(bo == id.slot)
    #expect(sessions.contains(id) == false)
  }

  @Test func `make a user online if one is, away if all are, and offline otherwise`() {
    #expect(sessions.presence(of: "ada") == .offline)
    _ = add("ada", isPresence: false)
    #expect(sessions.presence(of: "ada") == .offline)
    _ = add("ada", isAway: true)
    #expect(sessions.presence(of: "ada") == .away)
    let here = add("ada")
    #expect(sessions.presence(of: "ada") == .online)
    sessions.remove(here)
    #expect(sessions.presence(of: "ada") == .away)
  }
}
