import Testing

@testable import Relay

@Suite struct `The members of a room` {
  @Test(arguments: [2, 3, 15, 16, 100])
  func `removing members leaves the marks of the others`(count: Int64) {
    var members: Members = [:]
    for seq in 0..<count { members["user\(seq)"] = MemberMarks(read: seq) }
    for seq in stride(from: 0, to: count, by: 2) { members["user\(seq)"] = nil }
    for seq in 0..<count {
      let marks = members["user\(seq)"]
      #expect(marks == (seq % 2 == 0 ? nil : MemberMarks(read: seq)))
    }
    #expect(members.count == Int(count / 2))
    #expect(members.users.count == members.count)
  }

  @Test func `the place of a member gives access to the member's marks`() throws {
    var members: Members = ["ada": MemberMarks(read: 1), "bo": MemberMarks(read: 2)]
    members[place: try #require(members.place(of: "bo"))].read = 3
    #expect(members["bo"]?.read == 3)
    #expect(members["ada"]?.read == 1)
    #expect(members.place(of: "cy") == nil)
  }

  @Test func `a user who is not a member cannot be removed`() {
    var members: Members = ["ada": MemberMarks()]
    members["bo"] = nil
    #expect(members.count == 1)
    members["ada"] = nil
    #expect(members.isEmpty)
  }
}
