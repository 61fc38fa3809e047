import Testing

@testable import Relay

@Suite struct `The rooms that the store does not know` {
  @Test func `a user's rooms are those that were inserted and not removed`() {
    var random = SystemRandomNumberGenerator()
    var rooms = UnstoredRooms()
    var model: [String: Set<String>] = [:]
    for _ in 1...2000 {
      let user = ["ada", "bo"].randomElement(using: &random) ?? ""
      let room = ["a", "b", "c", "d"].randomElement(using: &random) ?? ""
      if Bool.random(using: &random) {
        rooms.insert(room, of: user)
        model[user, default: []].insert(room)
      } else {
        rooms.remove(room, of: user)
        model[user]?.remove(room)
      }
      let expected = model[user] ?? []
      #expect(rooms.count(of: user) == expected.count)
      #expect(rooms.rooms(of: user, after: "").sorted() == expected.sorted())
      #expect(rooms.rooms(of: user, after: "b").sorted() == expected.filter { $0 > "b" }.sorted())
      #expect(rooms.isEmpty == model.values.allSatisfy(\.isEmpty))
    }
  }
}
