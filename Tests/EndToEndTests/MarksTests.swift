import TestSupport
import Testing
import Wire

extension `End to end` {
  @Suite struct `The marks of a user who also posts over HTTP` {
    @Test func `a POST as ada does not raise ada's read mark nor drop her unread`() throws {
      let relay = try RelayProcess("")
      let (ada, bo) = (try RawClient(relay, user: "ada"), try RawClient(relay, user: "bo"))
      _ = try ada.join("builds")
      _ = try bo.join("builds")
      try bo.say("is it done?", in: "builds", id: "1")
      try bo.say("hello?", in: "builds", id: "2")
      func row() throws -> ServerMessage.RoomSummary? {
        try ada.send(.rooms(.init()))
        return try ada.first { message in
          if case .rooms(let rows, _) = message {
            .some(rows.first { $0.room == "builds" })
          } else {
            nil
          }
        }
      }
      #expect(try row()?.read == 0)
      #expect(try row()?.unread == 2)
      // As a build hook would.
      for id in ["a", "b"] {
        let post = try ChildProcess([
          "/usr/bin/curl", "-sSf", "-H", "Content-Type: application/json",
          "-d", "{\"id\":\"\(id)\",\"text\":\"build done\"}",
          "http://127.0.0.1:\(relay.port)/v1/rooms/builds/messages?user=ada",
        ])
        #expect(try post.wait() == .exit(0), "\(post.errors)")
      }
      #expect(try row()?.head == 4)
      #expect(try row()?.read == 0)
      #expect(try row()?.unread == 2)
      let seen = try bo.join("builds").members?.first { $0.user == "ada" }
      #expect(seen?.read == 0)
      // She has read bo's: what follows is her own, and the next one moves the mark.
      try ada.send(.read(room: "builds", seq: 2))
      #expect(try row()?.read == 2)
      #expect(try row()?.unread == 0)
      try ada.say("sorry", in: "builds", id: "c")
      #expect(try row()?.read == 5)
      #expect(try relay.stop() == .exit(0))
    }
  }
}
