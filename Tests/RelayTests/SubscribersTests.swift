import Testing

@testable import Relay

@Suite struct `The subscribers of a room` {
  @Test func `a user counts once until the last subscription has ended`() {
    var subscribers = Subscribers()
    for user in ["ada", "bo", "ada", "ada"] { subscribers.add(user) }
    #expect(subscribers.count == 2)
    subscribers.remove("ada")
    subscribers.remove("ada")
    #expect(subscribers.count == 2)
    subscribers.remove("ada")
    #expect(subscribers.count == 1)
    subscribers.remove("bo")
    #expect(subscribers.isEmpty)
  }

  @Test func `nothing changes if a user without a subscription is removed`() {
    var subscribers = Subscribers()
    subscribers.remove("ada")
    subscribers.add("ada")
    subscribers.remove("bo")
    #expect(subscribers.count == 1)
  }
}
