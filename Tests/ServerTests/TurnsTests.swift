import Testing

@testable import Server

@Suite struct `Work of several users` {
  @Test func `gets its turn user by user, and that of each in order`() {
    var turns = Turns<String>()
    for work in ["a1", "a2", "a3"] { turns.add(work, of: "ada") }
    turns.add("b1", of: "bo")
    #expect(turns.next() == "a1")
    // One who comes again does not overtake.
    turns.add("c1", of: "cy")
    turns.add("b2", of: "bo")
    var rest: [String] = []
    while let work = turns.next() { rest.append(work) }
    #expect(rest == ["b1", "a2", "c1", "b2", "a3"])
    #expect(turns.isEmpty)
  }
}
