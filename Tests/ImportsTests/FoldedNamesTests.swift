import Testing

@testable import Imports

@Suite struct `Names at the relay` {
  @Test(arguments: [
    ("ada", "ada"), ("Ada Lovelace", "ada-lovelace"), ("Zoë", "zoe"), ("a--b", "a--b"),
    ("Æsop!!", "aesop"), ("山田", "user"), ("..", "user"), ("", "user"), ("a:b", "a-b"),
  ])
  func `of users are their own, or folded`(name: String, user: String) {
    var names = FoldedNames.users(taken: [])
    #expect(names.add(name) == user)
  }

  @Test(arguments: [
    ("team:Café", "team:cafe"), ("dm:ada:bo", "dm-ada-bo"), ("Sys:audit", "sys-audit"),
    ("..", "room"),
  ])
  func `of rooms are never those of direct rooms or of the relay`(name: String, room: String) {
    var names = FoldedNames.rooms(taken: [])
    #expect(names.add(name) == room)
  }

  @Test func `that are alike get numbers, also where they are long`() {
    var names = FoldedNames.users(taken: ["sys"])
    #expect(["Bo", "bo", "BO", "sys"].map { names.add($0) } == ["bo", "bo-2", "bo-3", "sys-2"])
    let long = String(repeating: "x", count: 70)
    let both = [names.add(long), names.add(long)]
    #expect(both.map(\.utf8.count) == [64, 64])
    #expect(both[1].hasSuffix("-2"))
  }

  @Test func `of a table come first, and no other person gets them`() {
    var people = PeopleNames(table: ["Zoë": "zoe", "U7": "gil", "Zo": "zo"])
    #expect(people.user("U1", named: "zoe") == "zoe-2")
    #expect(people.user("U2", named: "Zoë") == "zoe")
    #expect(people.user("U7", named: "Gilbert") == "gil")
    #expect(people.user("U1") == "zoe-2")
    #expect(people.renamed.map(\.user) == ["zoe-2", "zoe", "gil"])
    #expect(people.unused == ["Zo"])
  }
}
