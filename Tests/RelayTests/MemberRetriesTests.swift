import Testing

@testable import Relay

@Suite struct MemberRetriesTests {
  private let ada = MemberRetries.Member(room: "r", user: "ada")

  @Test func `marks of a membership that goes on never go back`() {
    var retries = MemberRetries()
    retries.keep(.init(belongs: true, marks: MemberMarks(read: 3, received: 4)), for: ada)
    retries.keep(.init(belongs: true, marks: MemberMarks(read: 2, received: 5)), for: ada)
    let retry = retries.take(ada)
    #expect(retry?.marks == MemberMarks(read: 3, received: 5))
    #expect(retries.count == 0)
  }

  @Test func `the later one decides whether the user belongs to the room`() {
    var retries = MemberRetries()
    retries.keep(.init(belongs: true, marks: MemberMarks(read: 3, received: 4)), for: ada)
    #expect(retries.rooms(of: "ada") == 1)
    retries.keep(.init(belongs: false), for: ada)
    #expect(retries.rooms(of: "ada") == 0)
    retries.keep(.init(belongs: true, marks: MemberMarks(read: 1, received: 1)), for: ada)
    #expect(retries.take(ada)?.marks.read == 1)
  }

  @Test func `beyond the limit only known members are kept`() {
    var retries = MemberRetries()
    for number in 0...MemberRetries.limit {
      retries.keep(.init(belongs: true), for: .init(room: "\(number)", user: "ada"))
    }
    #expect(retries.count == MemberRetries.limit)
    retries.keep(.init(belongs: false), for: .init(room: "0", user: "ada"))
    #expect(retries[.init(room: "0", user: "ada")]?.belongs == false)
  }
}
