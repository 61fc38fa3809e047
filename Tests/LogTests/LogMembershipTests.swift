import Relay
import Testing
import Wire

@Suite struct `The contract of a log: memberships` {
  private typealias Send = ClientMessage.Send

  @Test(arguments: Conformer.allCases)
  func `marks are cut to the head and never go back`(_ conformer: Conformer) async throws {
    try await conformer.run(loops: 2) { harness in
      _ = await harness.subscribe("general", as: "bo")
      await harness.submit((1...5).map { .append("general", "ada", "\($0)") })
      func mark(read: Int64, received: Int64) async -> [Commit.MarkChange] {
        let marks = Marks(user: "bo", read: read, received: received)
        return await harness.submit([.mark(room: "general", marks)]).commit?.marks ?? []
      }
      var change = try #require(await mark(read: 2, received: 4).first)
      #expect(change.marks == Marks(user: "bo", read: 2, received: 4))
      #expect(change.room == "general")
      #expect(change.members == 2)
      #expect(await mark(read: 1, received: 3).isEmpty)
      change = try #require(await mark(read: 99, received: 99).first)
      #expect(change.marks == Marks(user: "bo", read: 5, received: 5))
      let joined = try #require(await harness.subscribe("general", as: "bo", from: 1))
      #expect(joined.read == 5)
      #expect(joined.received == 5)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `marks begin at the head of a room, and in a dm before the first entry`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      await harness.submit([
        .append("general", "bo", "1"), .append("general", "ada", "1"),
        .append("dm:ada:bo", "bo", "1"),
      ])
      let joined = try #require(await harness.subscribe("general", as: "cy"))
      #expect(
        joined.members == [
          Marks(user: "ada", read: 2, received: 2), Marks(user: "bo", read: 1, received: 1),
          Marks(user: "cy", read: 2, received: 2),
        ])
      let direct = try #require(await harness.subscribe("dm:ada:bo", as: "ada"))
      #expect(
        direct.members == [
          Marks(user: "ada", read: 0, received: 0), Marks(user: "bo", read: 1, received: 1),
        ])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a send moves each mark of its sender over entries of its own, and over no others`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      await harness.submit([.append("r", "ada", "1"), .append("r", "ada", "2")])
      await harness.submit([.append("r", "bo", "1"), .append("r", "ada", "3")])
      func ada() async -> Marks? {
        await harness.subscribe("r", as: "cy")?.members?.first { $0.user == "ada" }
      }
      #expect(await ada() == Marks(user: "ada", read: 2, received: 2))
      #expect(await harness.memberships(of: "ada").map(\.unread) == [Unread(1)])
      await harness.submit([.mark(room: "r", Marks(user: "ada", read: 0, received: 3))])
      await harness.submit([.append("r", "ada", "4")])
      #expect(await ada() == Marks(user: "ada", read: 2, received: 5))
      await harness.submit([.mark(room: "r", Marks(user: "ada", read: 3, received: 0))])
      #expect(await ada() == Marks(user: "ada", read: 3, received: 5))
      #expect(await harness.memberships(of: "ada").map(\.unread) == [Unread()])
      await harness.submit([.append("r", "ada", "5")])
      #expect(await ada() == Marks(user: "ada", read: 6, received: 6))
      // A reaction belongs to its sender like any other entry.
      let react = Send(room: "r", id: "2", react: 1, emoji: "👍", isOn: true)
      await harness.submit([.append(react, from: "bo"), .append("r", "ada", "6")])
      #expect(await ada() == Marks(user: "ada", read: 6, received: 6))
      #expect(await harness.memberships(of: "ada").map(\.unread) == [Unread()])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a user is a member of rooms joined or sent to, until it forgets them`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      await harness.submit([.append("sent", "ada", "1"), .append("joined", "bo", "1")])
      _ = await harness.subscribe("joined", as: "ada")
      #expect(await harness.memberships(of: "ada").map(\.room).sorted() == ["joined", "sent"])
      let forgotten = await harness.submit([.forget(room: "sent", user: "ada")])
      #expect(forgotten.commit?.membershipChanges.map(\.belongs) == [false])
      #expect(await harness.memberships(of: "ada").map(\.room) == ["joined"])
      // A user who forgets and joins again in one turn is a member.
      await harness.submit([.forget(room: "joined", user: "ada"), .subscribe("joined", "ada")])
      #expect(await harness.memberships(of: "ada").map(\.room) == ["joined"])
      #expect(await harness.memberships(of: "nobody").isEmpty)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a room of many users has them as members before and after its first entry`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      let users = (1...600).map { "u\($0)" }
      await harness.submit(users.map { .subscribe("r", $0) })
      #expect(await harness.memberships(of: "u600").map(\.head) == [0])
      await harness.submit(users.prefix(590).map { .unsubscribe(room: "r", user: $0) })
      #expect(await harness.submit([.append("r", "u1", "1")]).acks.map(\.seq) == [1])
      #expect(await harness.memberships(of: "u600").map(\.unread) == [Unread(1)])
      await harness.submit(users.prefix(560).map { .forget(room: "r", user: $0) })
      let joined = try #require(await harness.subscribe("r", as: "u600", after: 0))
      #expect(joined.members?.count == 40)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a dm with entries has both users as members`(_ conformer: Conformer) async throws {
    try await conformer.run { harness in
      let delivery = await harness.submit([.append("dm:ada:bo", "ada", "1")])
      #expect(
        delivery.commit?.membershipChanges.map(\.user).sorted() == ["ada", "bo"])
      let bo = try #require(await harness.memberships(of: "bo").first)
      #expect(
        bo
          == LogAnswer.Membership(
            room: "dm:ada:bo", belongs: true, head: 1, read: 0, unread: Unread(1), lastAt: bo.lastAt
          ))
      #expect(bo.lastAt > 0)
      #expect(await harness.memberships(of: "ada").first?.unread == Unread())
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a listed room is listed for users that are not members as well`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      _ = await harness.submit([.append("general", "ada", "1"), .append("general", "ada", "2")])
      let bo = await harness.memberships(of: "bo", listed: ["general", "random"])
      #expect(
        bo == [
          LogAnswer.Membership(
            room: "general", belongs: false, head: 2, read: 0, unread: Unread(),
            lastAt: bo[0].lastAt),
          LogAnswer.Membership(room: "random", belongs: false, head: 0, read: 0, unread: Unread()),
        ])
      let ada = await harness.memberships(of: "ada", listed: ["general"])
      #expect(ada.map(\.belongs) == [true])
      #expect(ada[0].lastAt == bo[0].lastAt)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a room without entries or subscribers is forgotten`(_ conformer: Conformer) async throws {
    try await conformer.run { harness in
      _ = await harness.subscribe("empty", as: "ada")
      #expect(await harness.memberships(of: "ada").map(\.room) == ["empty"])
      await harness.submit([.unsubscribe(room: "empty", user: "ada")])
      #expect(await harness.memberships(of: "ada").isEmpty)
      let late = await harness.submit([.subscribe("empty", "bo", mayCreate: false)])
      #expect(late.refusals.map(\.code) == [.noSuchRoom])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a cursor is set by the position that the client sends`(_ conformer: Conformer) async throws
  {
    try await conformer.run { harness in
      await harness.submit((1...5).map { .append("general", "ada", "\($0)") })
      let epoch = harness.log.epoch
      func resume(
        _ after: Int64?, _ epoch: String?
      ) async -> (ServerMessage.Resume?, Int64?) {
        let joined = await harness.subscribe("general", as: "bo", after: after, epoch: epoch)
        #expect(joined?.epoch == harness.log.epoch)
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
