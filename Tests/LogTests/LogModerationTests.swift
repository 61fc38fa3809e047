import Relay
import Testing
import Wire

/// Rooms with settings and members of their own, in every log.
@Suite struct `Rooms with members` {
  private typealias Send = ClientMessage.Send

  /// Sends as users, each time with an id of its own.
  private final class Room {
    let harness: LogHarness
    let name: String
    private var ids = 0

    init(_ harness: LogHarness, _ name: String = "den") {
      self.harness = harness
      self.name = name
    }

    private func nextID() -> String {
      ids += 1
      return "id-\(ids)"
    }

    func text(_ user: String, _ text: String = "hi") -> LogRequest {
      .append(Send(room: name, id: nextID(), text: text), from: user)
    }

    func settings(
      _ user: String, isOperator: Bool = false, _ change: (inout RoomSettings.Change) -> Void
    ) -> LogRequest {
      var settings = RoomSettings.Change()
      change(&settings)
      return .append(
        Send(room: name, id: nextID(), settings: settings), from: user, isOperator: isOperator)
    }

    func member(
      _ user: String, _ named: String, _ role: Role, until: Int64? = nil, reason: String? = nil,
      isOperator: Bool = false
    ) -> LogRequest {
      let change = MemberChange(user: named, role: role, until: until, reason: reason)
      return .append(
        Send(room: name, id: nextID(), member: change), from: user, isOperator: isOperator)
    }

    func delete(_ user: String, _ target: Int64, isOperator: Bool = false) -> LogRequest {
      .append(Send(room: name, id: nextID(), delete: target), from: user, isOperator: isOperator)
    }

    /// Submits requests that all are to be accepted.
    func accept(
      _ requests: LogRequest..., sourceLocation: SourceLocation = #_sourceLocation
    ) async -> LogDelivery {
      let delivery = await harness.submit(requests)
      #expect(delivery.refusals.isEmpty, sourceLocation: sourceLocation)
      return delivery
    }

    /// Returns the error of a request that is to be refused.
    func refusal(_ request: LogRequest) async -> WireError? {
      await harness.submit([request]).refusals.first
    }

    func joined(_ user: String, after: Int64? = nil) async -> ServerMessage.Joined? {
      await harness.subscribe(name, as: user, after: after)
    }

    /// What a user reads; `nil` if the room is refused.
    func history(
      _ user: String, isFolded: Bool = false, isOperator: Bool = false
    ) async -> ServerMessage.HistoryPage? {
      let request = ClientMessage.HistoryRequest(room: name, limit: 100, isFolded: isFolded)
      let asker = ReadRequest.Asker(user: user, isOperator: isOperator, now: 1_000)
      guard case .history(let page)? = await harness.history(request, by: asker, mayCreate: true)
      else { return nil }
      return page
    }

    func glimpse(_ user: String) async -> LogAnswer.Glimpse? {
      let asker = ReadRequest.Asker(user: user, now: 1_000)
      let answer = await harness.read { .glimpses($0, [(room: name, seq: Int64(1000))], by: asker) }
      guard case .glimpses(_, let glimpses) = answer else { return nil }
      return glimpses.first
    }
  }

  private static func `private`(_ change: inout RoomSettings.Change) {
    change.title = "Den"
    change.access = .private
  }

  @Test(arguments: Conformer.allCases)
  func `the first settings make their sender the owner of a room that others find free`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      let room = Room(harness)
      _ = await room.accept(room.settings("ada", Self.private), room.text("ada", "secret"))
      let joined = try #require(await room.joined("ada", after: 0))
      #expect(joined.about == .init(title: "Den", access: .private, role: .owner))
      #expect(joined.members?.map(\.role) == [.owner])
      // A join and a text are refused as by a name that is taken, and the rest as for a free one.
      #expect(await room.joined("bo") == nil)
      #expect(await room.refusal(room.text("bo"))?.code == .noSuchRoom)
      #expect(await room.refusal(room.settings("bo", Self.private))?.code == .noSuchRoom)
      #expect(await room.refusal(room.delete("bo", 2))?.code == .noSuchEntry)
      let page = try #require(await room.history("bo"))
      #expect(page.entries.isEmpty && page.head == 0 && page.first == 1)
      #expect(await room.glimpse("bo") == hidden)
      let forward = Send(room: "other", id: "f", forward: Forward(room: "den", seq: 2))
      #expect(
        await harness.submit([.append(forward, from: "bo")]).refusals.first?.code == .noSuchEntry)
      #expect(await harness.memberships(of: "bo").map(\.room) == [])
      // Operators are owners everywhere.
      #expect(await room.history("root", isOperator: true)?.entries.count == 2)
    }
  }

  private var hidden: LogAnswer.Glimpse {
    var glimpse = LogAnswer.Glimpse()
    glimpse.isHidden = true
    return glimpse
  }

  @Test(arguments: Conformer.allCases)
  func `the relay chooses a name that only the sender of the settings knows`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      var settings = RoomSettings.Change()
      Self.private(&settings)
      let send = Send(room: "", id: "1", settings: settings)
      let first = await harness.submit([.append(send, from: "ada")])
      let again = await harness.submit([.append(send, from: "ada")])
      let others = await harness.submit([.append(send, from: "bo")])
      let names = (first.acks + again.acks + others.acks).map(\.room)
      try #require(names.count == 3)
      #expect(names[0] == names[1] && again.acks[0].duplicate && names[0] != names[2])
      #expect(names.allSatisfy { RoomName.isValid($0) && $0.count == 34 })
      settings.title = "Another"
      let conflict = await harness.submit([
        .append(Send(room: "", id: "1", settings: settings), from: "ada")
      ])
      #expect(conflict.refusals.map(\.code) == [.idConflict])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a member is let in by an entry, and out by one`(_ conformer: Conformer) async throws {
    try await conformer.run { harness in
      let room = Room(harness)
      _ = await room.accept(room.settings("ada", Self.private))
      let invited = await room.accept(room.member("ada", "bo", .member), room.text("ada"))
      #expect(invited.commit?.membershipChanges.contains { $0.user == "bo" && $0.belongs } == true)
      #expect(await harness.memberships(of: "bo").map(\.room) == ["den"])
      #expect(await room.joined("bo", after: 0)?.about?.role == .member)
      // Whatever stands in the batch before the removal is accepted, and nothing after it.
      let batch = await harness.submit([
        room.text("bo", "before"), room.member("ada", "bo", .none, reason: "spam"),
        room.text("bo", "after"),
      ])
      #expect(batch.acks.map(\.seq) == [4, 5])
      #expect(batch.refusals.map(\.code) == [.noSuchRoom])
      let departure = try #require(batch.commit?.departures.first)
      #expect(departure.user == "bo" && departure.room == "den")
      #expect(
        departure.entry
          == ServerMessage.Departure(seq: 5, by: "ada", role: Role.none, reason: "spam"))
      #expect(await harness.memberships(of: "bo").isEmpty)
      #expect(await room.history("bo")?.entries.isEmpty == true)
      #expect(await room.joined("bo", after: 4) == nil)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a join before a removal in the same batch is refused`(_ conformer: Conformer) async throws {
    try await conformer.run { harness in
      let room = Room(harness)
      _ = await room.accept(room.settings("ada", Self.private), room.member("ada", "bo", .member))
      let delivery = await harness.submit([
        .subscribe("den", "bo", after: 0), room.member("ada", "bo", .banned), room.text("ada"),
      ])
      #expect(delivery.refusals.map(\.re) == [.join])
      #expect(delivery.refusals.map(\.code) == [.noSuchRoom])
      // The log counts no subscription: the next one of another user is the only one.
      _ = await room.accept(room.member("ada", "cy", .member))
      #expect(await room.joined("cy")?.subscribers == 1)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `those who joined an open room leave it when it becomes private`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      let room = Room(harness)
      _ = await room.accept(room.settings("ada") { $0.title = "Den" })
      for user in ["bo", "cy", "dee"] { _ = await room.joined(user, after: 0) }
      _ = await room.accept(room.member("ada", "cy", .member))
      let closing = await room.accept(room.settings("ada", Self.private))
      #expect(closing.commit?.departures.map(\.user) == ["bo", "dee"])
      #expect(closing.commit?.departures.allSatisfy { $0.entry.seq == 3 } == true)
      #expect(await harness.memberships(of: "bo").isEmpty)
      #expect(await harness.memberships(of: "cy").map(\.room) == ["den"])
      #expect(await room.refusal(room.text("bo"))?.code == .noSuchRoom)
      _ = await room.accept(room.text("cy"))
    }
  }

  @Test(arguments: Conformer.allCases)
  func `the first entry of a batch that excludes a user ends the subscription`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      let room = Room(harness)
      _ = await room.accept(room.settings("ada") { $0.title = "Den" })
      for user in ["bo", "cy"] { _ = await room.joined(user, after: 0) }
      let batch = await room.accept(
        room.settings("ada", Self.private), room.text("ada", "secret"),
        room.member("ada", "bo", .banned), room.member("ada", "cy", .member))
      let departures = try #require(batch.commit?.departures)
      #expect(departures.first { $0.user == "bo" }?.entry.seq == 2)
      #expect(departures.first { $0.user == "cy" }?.entry.seq == 2)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a name that was only joined is free`(_ conformer: Conformer) async throws {
    try await conformer.run { harness in
      let room = Room(harness)
      _ = await room.joined("bo")
      let made = await room.accept(room.settings("ada", Self.private))
      #expect(made.commit?.departures.map(\.user) == ["bo"])
      #expect(await harness.memberships(of: "bo").isEmpty)
      #expect(await room.history("bo")?.head == 0)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a muted member reads and deletes, and a banned user does nothing`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      let room = Room(harness)
      _ = await room.accept(
        room.settings("ada") { $0.title = "Den" }, room.text("bo", "mine"),
        room.member("ada", "bo", .muted, until: .max >> 11))
      let muted = await room.refusal(room.text("bo"))
      #expect(muted?.code == .forbidden && muted?.until == .max >> 11)
      _ = await room.accept(room.delete("bo", 2))
      #expect(await room.joined("bo") != nil)
      let banned = await room.accept(room.member("ada", "bo", .banned))
      #expect(banned.commit?.departures.map(\.user) == ["bo"])
      for request in [room.text("bo"), room.delete("bo", 2), room.member("bo", "bo", .member)] {
        #expect(await room.refusal(request)?.code == .forbidden)
      }
      #expect(await room.joined("bo") == nil)
      #expect(await room.history("bo") == nil)
      // As that of others.
      #expect(await room.history("cy")?.entries.count == 5)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a moderator deletes what those below have sent, and the folded entry says who did`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      let room = Room(harness)
      _ = await room.accept(
        room.settings("ada") { $0.title = "Den" }, room.member("ada", "mo", .moderator),
        room.text("bo", "spam"), room.text("ada", "mine"))
      #expect(await room.refusal(room.delete("mo", 4))?.code == .forbidden)
      #expect(await room.refusal(room.delete("bo", 4))?.code == .forbidden)
      _ = await room.accept(room.delete("mo", 3))
      let page = try #require(await room.history("bo", isFolded: true))
      #expect(page.entries.map(\.kind) == [.settings, .member, .text, .text])
      #expect(page.entries[2].isDeleted && page.entries[2].deletedBy == "mo")
      #expect(page.entries[3].deletedBy == nil)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `with history joined a member reads from the entry on that let them in`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      let room = Room(harness)
      _ = await room.accept(
        room.settings("ada") {
          $0.access = .private
          $0.history = .joined
        }, room.text("ada", "old"), room.member("ada", "bo", .member), room.text("ada", "new"))
      let joined = try #require(await room.joined("bo", after: 0))
      #expect(joined.first == 3 && joined.after == 2 && joined.resume == .truncated)
      for isFolded in [false, true] {
        #expect(await room.history("bo", isFolded: isFolded)?.entries.map(\.seq) == [3, 4])
        #expect(await room.history("ada", isFolded: isFolded)?.entries.count == 4)
      }
      let reply = Send(room: "den", id: "r", text: "re", replyTo: 2)
      #expect(
        await harness.submit([.append(reply, from: "bo")]).refusals.first?.code == .noSuchEntry)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `in a slow room a member waits between two texts`(_ conformer: Conformer) async throws {
    try await conformer.run { harness in
      let room = Room(harness)
      _ = await room.accept(room.settings("ada") { $0.slowSeconds = 3600 })
      let delivery = await harness.submit([
        room.text("bo"), room.text("bo"), room.text("cy"), room.text("ada"), room.text("ada"),
      ])
      #expect(delivery.acks.count == 4)
      let refusal = try #require(delivery.refusals.first)
      #expect(refusal.code == .rateLimited && refusal.field == "slow_s")
      #expect((1...3_600_000).contains(refusal.retryAfterMilliseconds ?? 0))
    }
  }

  @Test(arguments: Conformer.allCases)
  func `rules are kept when the entries that made them are trimmed`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run(keepEntriesPerRoom: 10) { harness in
      let room = Room(harness)
      _ = await room.accept(
        room.settings("ada", Self.private), room.member("ada", "bo", .member),
        room.member("ada", "cy", .banned))
      for _ in 1...30 { _ = await room.accept(room.text("ada")) }
      let page = try #require(await room.history("bo", isFolded: true))
      #expect(page.first > 20 && page.entries.allSatisfy { $0.kind == .text })
      #expect(await room.joined("bo")?.about?.title == "Den")
      #expect(await room.refusal(room.text("cy"))?.code == .noSuchRoom)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `two owners who remove each other at once leave one`(_ conformer: Conformer) async throws {
    try await conformer.run { harness in
      let room = Room(harness)
      _ = await room.accept(room.settings("ada", Self.private), room.member("ada", "bo", .owner))
      let delivery = await harness.submit([
        room.member("ada", "bo", .none), room.member("bo", "ada", .none),
      ])
      #expect(delivery.acks.count == 1 && delivery.refusals.map(\.code) == [.noSuchRoom])
      let last = await room.refusal(room.member("ada", "ada", .none))
      #expect(last?.code == .forbidden && last?.field == "role")
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a room has a limited number of members and of banned users`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run(limits: EntryLimits(membersPerRoom: 2)) { harness in
      let room = Room(harness)
      _ = await room.accept(
        room.settings("ada", Self.private), room.member("ada", "bo", .member),
        room.member("ada", "x", .banned), room.member("ada", "y", .banned))
      for request in [room.member("ada", "cy", .member), room.member("ada", "z", .banned)] {
        let refusal = await room.refusal(request)
        #expect(refusal?.code == .limitReached && refusal?.field == "members_per_room")
      }
      _ = await room.accept(room.member("ada", "bo", .none), room.member("ada", "cy", .member))
    }
  }

  @Test(arguments: Conformer.allCases)
  func `only an operator changes a room without an owner`(_ conformer: Conformer) async throws {
    try await conformer.run { harness in
      let room = Room(harness)
      _ = await room.accept(room.text("ada"), room.text("bo", "spam"))
      for request in [
        room.settings("ada") { $0.topic = "Mine" }, room.member("ada", "bo", .none),
        room.member("ada", "ada", .member),
      ] {
        #expect(await room.refusal(request)?.code == .forbidden)
      }
      _ = await room.accept(
        room.settings("root", isOperator: true) { $0.topic = "Rules" },
        room.member("root", "bo", .banned, isOperator: true),
        room.delete("root", 2, isOperator: true), room.text("ada"))
      #expect(await room.refusal(room.text("bo"))?.code == .forbidden)
      #expect(await room.joined("ada")?.about?.topic == "Rules")
      // The operator is no member for that.
      #expect(await harness.memberships(of: "root").isEmpty)
      for name in ["dm:ada:bo", "sys:audit"] {
        let other = Room(harness, name)
        let error = await other.refusal(
          other.settings("ada", isOperator: true) { $0.title = "Ours" })
        #expect(error?.code == .forbidden)
      }
    }
  }
}
