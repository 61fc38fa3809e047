import Relay
import Testing
import Wire

@Suite struct `The contract of a log, for those who belong` {
  @Test(arguments: Conformer.allCases)
  func `marks are cut to the head and never go back`(_ conformer: Conformer) async throws {
    try await conformer.run(loops: 2) { desk in
      await desk.submit((1...5).map { .append("general", "ada", "\($0)") })
      _ = await desk.enter("general", as: "bo")
      func mark(read: Int64, received: Int64) async -> [Commit.MarkChange] {
        let marks = Marks(user: "bo", read: read, received: received)
        return await desk.submit([.mark(room: "general", marks)]).commit?.marks ?? []
      }
      var change = try #require(await mark(read: 2, received: 4).first)
      #expect(change.marks == Marks(user: "bo", read: 2, received: 4))
      #expect(change.room == "general")
      #expect(change.members == 2)
      #expect(await mark(read: 1, received: 3).isEmpty)
      change = try #require(await mark(read: 99, received: 99).first)
      #expect(change.marks == Marks(user: "bo", read: 5, received: 5))
      let joined = try #require(await desk.enter("general", as: "bo", from: 1))
      #expect(joined.read == 5)
      #expect(joined.received == 5)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a send moves the marks of its sender`(_ conformer: Conformer) async throws {
    try await conformer.run { desk in
      await desk.submit([.append("general", "bo", "1"), .append("general", "ada", "1")])
      await desk.submit([.append("general", "ada", "2")])
      let joined = try #require(await desk.enter("general", as: "ada"))
      #expect(joined.read == 3)
      #expect(joined.received == 3)
      #expect(
        joined.members == [
          Marks(user: "ada", read: 3, received: 3), Marks(user: "bo", read: 1, received: 1),
        ])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a user belongs to what was joined or sent to, until it is forgotten`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { desk in
      await desk.submit([.append("sent", "ada", "1"), .append("joined", "bo", "1")])
      _ = await desk.enter("joined", as: "ada")
      #expect(await desk.belongings(of: "ada").map(\.room).sorted() == ["joined", "sent"])
      let forgotten = await desk.submit([.forget(room: "sent", user: "ada")])
      #expect(forgotten.commit?.memberships.map(\.belongs) == [false])
      #expect(await desk.belongings(of: "ada").map(\.room) == ["joined"])
      // Who forgets and comes back in one turn belongs.
      await desk.submit([.forget(room: "joined", user: "ada"), .enter("joined", "ada")])
      #expect(await desk.belongings(of: "ada").map(\.room) == ["joined"])
      #expect(await desk.belongings(of: "nobody").isEmpty)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a dm with entries belongs to both`(_ conformer: Conformer) async throws {
    try await conformer.run { desk in
      let delivery = await desk.submit([.append("dm:ada:bo", "ada", "1")])
      #expect(
        delivery.commit?.memberships.map(\.user).sorted() == ["ada", "bo"])
      let bo = try #require(await desk.belongings(of: "bo").first)
      #expect(
        bo
          == LogAnswer.Belonging(
            room: "dm:ada:bo", belongs: true, head: 1, read: 0, unread: 1, lastAt: bo.lastAt))
      #expect(bo.lastAt > 0)
      #expect(await desk.belongings(of: "ada").first?.unread == 0)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a listed room is told to those who do not belong to it as well`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { desk in
      _ = await desk.submit([.append("general", "ada", "1"), .append("general", "ada", "2")])
      let bo = await desk.belongings(of: "bo", listed: ["general", "random"])
      #expect(
        bo == [
          LogAnswer.Belonging(
            room: "general", belongs: false, head: 2, read: 0, unread: 0, lastAt: bo[0].lastAt),
          LogAnswer.Belonging(room: "random", belongs: false, head: 0, read: 0, unread: 0),
        ])
      let ada = await desk.belongings(of: "ada", listed: ["general"])
      #expect(ada.map(\.belongs) == [true])
      #expect(ada[0].lastAt == bo[0].lastAt)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a room without entries or subscribers is forgotten`(_ conformer: Conformer) async throws {
    try await conformer.run { desk in
      _ = await desk.enter("empty", as: "ada")
      #expect(await desk.belongings(of: "ada").map(\.room) == ["empty"])
      await desk.submit([.exit(room: "empty", user: "ada")])
      #expect(await desk.belongings(of: "ada").isEmpty)
      let late = await desk.submit([.enter("empty", "bo", mayCreate: false)])
      #expect(late.refusals.map(\.code) == [.noSuchRoom])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a cursor is set by what the client says it has`(_ conformer: Conformer) async throws {
    try await conformer.run { desk in
      await desk.submit((1...5).map { .append("general", "ada", "\($0)") })
      let epoch = desk.log.epoch
      func resume(
        _ after: Int64?, _ epoch: String?
      ) async -> (ServerMessage.Resume?, Int64?) {
        let joined = await desk.enter("general", as: "bo", after: after, epoch: epoch)
        #expect(joined?.epoch == desk.log.epoch)
        #expect(joined?.head == 5)
        #expect(joined?.first == 1)
        return (joined?.resume, joined?.after)
      }
      #expect(await resume(nil, nil) == (.ok, 5))
      #expect(await resume(0, nil) == (.ok, 0))
      #expect(await resume(3, epoch) == (.ok, 3))
      #expect(await resume(5, epoch) == (.ok, 5))
      #expect(await resume(9, epoch) == (.diverged, 5))
      #expect(await resume(3, "another-log") == (.reset, 0))
    }
  }
}
