import Relay
import Testing
import Wire

/// Blocks, requests and reports, in every log.
@Suite struct `Blocks, requests and reports` {
  fileprivate typealias Send = ClientMessage.Send

  fileprivate static let dm = "dm:ada:bo"

  fileprivate static func origin(_ re: RequestName) -> LogRequest.Origin {
    LogRequest.Origin(session: .test, re: re, ref: "r")
  }

  private static func block(_ user: String, _ blocked: String, _ on: Bool = true) -> LogRequest {
    .block(.init(user: user, blocked: blocked, on: on, origin: origin(.block)))
  }

  fileprivate static func text(_ user: String, _ text: String, room: String = dm) -> LogRequest {
    .append(Send(room: room, id: text, text: text), from: user)
  }

  fileprivate static func privateRoom(
    _ room: String, of owner: String, isOperator: Bool = false
  ) -> LogRequest {
    var settings = RoomSettings.Change()
    settings.access = .private
    return .append(
      Send(room: room, id: "s", settings: settings), from: owner, isOperator: isOperator)
  }

  /// An owner of `den` lets a user in.
  fileprivate static func member(_ user: String, of owner: String) -> LogRequest {
    .append(
      Send(room: "den", id: "m", member: MemberChange(user: user, role: .member)), from: owner)
  }

  fileprivate static func report(
    _ user: String, _ seq: Int64, room: String = "general", isOperator: Bool = false
  ) -> LogRequest {
    .report(
      .init(
        room: room, seq: seq, user: user, isOperator: isOperator, reason: "spam",
        origin: origin(.report)))
  }

  fileprivate static func answers(_ delivery: LogDelivery) -> [ServerMessage] {
    delivery.answers.compactMap { if case .answer(_, let message) = $0 { message } else { nil } }
  }

  fileprivate func history(
    _ harness: LogHarness, _ user: String, room: String = dm, isFolded: Bool = false,
    isOperator: Bool = false
  ) async -> [Entry] {
    let request = ClientMessage.HistoryRequest(room: room, limit: 100, isFolded: isFolded)
    let asker = ReadRequest.Asker(user: user, isOperator: isOperator, now: 1_000)
    guard case .history(let page)? = await harness.history(request, by: asker, mayCreate: true)
    else { return [] }
    return page.entries
  }

  private func glimpse(_ harness: LogHarness, _ user: String) async -> LogAnswer.Glimpse? {
    let asker = ReadRequest.Asker(user: user, now: 1_000)
    let answer = await harness.read {
      .glimpses($0, [(room: Self.dm, seq: Int64(1000))], by: asker)
    }
    guard case .glimpses(_, let glimpses) = answer else { return nil }
    return glimpses.first
  }

  @Test(arguments: Conformer.allCases)
  func `what a blocked user sends keeps its place, and is shown to the user themself alone`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      await harness.submit([Self.text("bo", "one"), Self.text("ada", "two")])
      let blocked = await harness.submit([Self.block("ada", "bo")])
      #expect(Self.answers(blocked) == [.ok])
      let delivery = await harness.submit([Self.text("bo", "three"), Self.text("ada", "four")])
      #expect(delivery.acks.map(\.seq) == [3, 4])
      await harness.submit([Self.block("ada", "bo", false)])
      await harness.submit([Self.text("bo", "five")])
      for isFolded in [false, true] {
        let seen = await history(harness, "ada", isFolded: isFolded)
        #expect(seen.map(\.seq) == [1, 2, 3, 4, 5])
        #expect(seen.map(\.text) == ["one", "two", nil, "four", "five"])
        #expect(seen.map(\.from) == ["bo", "ada", "", "ada", "bo"])
        #expect(seen.map(\.kind.rawValue) == ["text", "text", "hidden", "text", "text"])
        let own = await history(harness, "bo", isFolded: isFolded)
        #expect(own.map(\.text) == ["one", "two", "three", "four", "five"])
      }
      let page = try #require(await harness.page(Self.dm, for: "ada", after: 2, through: 3))
      #expect(page.frames.entries.map(\.kind) == [.hidden])
      let full = try #require(await harness.page(Self.dm, for: "bo", after: 2, through: 3))
      #expect(full.frames.entries.map(\.text) == ["three"])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `hidden entries are neither unread nor a row's last, and no reference finds them`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      await harness.submit([Self.text("bo", "one"), Self.block("ada", "bo")])
      await harness.submit([Self.text("bo", "two"), Self.text("bo", "three")])
      #expect(await harness.memberships(of: "ada").map(\.unread.count) == [1])
      let glimpse = try #require(await glimpse(harness, "ada"))
      #expect(String(decoding: glimpse.last ?? [], as: UTF8.self).contains("\"one\""))
      for send in [
        Send(room: Self.dm, id: "x", react: 2, emoji: "👍", isOn: true),
        Send(room: "other", id: "y", forward: Forward(room: Self.dm, seq: 2)),
      ] {
        let refused = await harness.submit([.append(send, from: "ada")])
        #expect(refused.refusals.map(\.code) == [.noSuchEntry])
      }
      // Those of the blocked user work on.
      let edited = await harness.submit([
        .append(Send(room: Self.dm, id: "e", edit: 1, text: "uno"), from: "bo")
      ])
      #expect(edited.acks.count == 1)
      #expect(await history(harness, "ada", isFolded: true).first?.text == "one")
      #expect(await history(harness, "bo", isFolded: true).first?.text == "uno")
      await harness.submit([
        .append(Send(room: Self.dm, id: "r", react: 1, emoji: "👍", isOn: true), from: "bo")
      ])
      #expect(await history(harness, "ada", isFolded: true).first?.reactions.isEmpty == true)
      #expect(await history(harness, "bo", isFolded: true).first?.reactions.count == 1)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a user who was blocked before the first message is shown in no list`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      await harness.submit([Self.block("ada", "bo")])
      await harness.submit([Self.text("bo", "one")])
      #expect(await glimpse(harness, "ada")?.isHidden == true)
      #expect(await history(harness, "ada").map(\.kind) == [.hidden])
      // To the other one it is a room like any other.
      let joined = try #require(await harness.subscribe(Self.dm, as: "bo", after: 0))
      #expect(joined.members?.map(\.user) == ["ada", "bo"])
      #expect(await glimpse(harness, "bo")?.isHidden == false)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `the marks of a user who has blocked another one stay where they were`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      await harness.submit([Self.text("bo", "one"), Self.block("ada", "bo")])
      await harness.submit([Self.text("bo", "two")])
      await harness.submit([
        .mark(room: Self.dm, Marks(user: "ada", read: 2, received: 2), from: nil)
      ])
      let seen = try #require(await harness.subscribe(Self.dm, as: "bo"))
      #expect((seen.members?.first?.read ?? 9) <= 1)
      #expect(seen.subscribers == 1)
      let own = try #require(await harness.subscribe(Self.dm, as: "ada"))
      #expect(own.members?.first?.read == 2)
      #expect(own.subscribers == 1)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `what was unread at the block and is read since is not told either, until it ends`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      await harness.submit([Self.text("bo", "one"), Self.text("bo", "two")])
      await harness.submit([Self.block("ada", "bo")])
      await harness.submit([
        .mark(room: Self.dm, Marks(user: "ada", read: 2, received: 2), from: nil)
      ])
      func read() async -> Int64? {
        await harness.subscribe(Self.dm, as: "bo")?.members?.first?.read
      }
      #expect(await read() == 0)
      // The own block of the other one changes nothing.
      await harness.submit([Self.block("bo", "ada"), Self.block("bo", "ada", false)])
      #expect(await read() == 0)
      await harness.submit([Self.block("ada", "bo", false)])
      #expect(await read() == 2)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a forward has the last text that is shown, and no reply refers to a hidden entry`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      await harness.submit([
        Self.text("bo", "one"),
        .append(Send(room: Self.dm, id: "e1", edit: 1, text: "uno"), from: "bo"),
      ])
      // The edit is of an earlier batch, and then of the same.
      await harness.submit([
        Self.block("ada", "bo"),
        .append(Send(room: Self.dm, id: "e2", edit: 1, text: "hidden"), from: "bo"),
        .append(Send(room: "o", id: "f1", forward: Forward(room: Self.dm, seq: 1)), from: "ada"),
      ])
      await harness.submit([
        .append(Send(room: "o", id: "f2", forward: Forward(room: Self.dm, seq: 1)), from: "ada")
      ])
      #expect(await history(harness, "ada", room: "o").map(\.text) == ["uno", "uno"])
      await harness.submit([Self.text("bo", "three")])
      let refused = await harness.submit([
        .append(Send(room: Self.dm, id: "r", text: "re", replyTo: 4), from: "ada")
      ])
      #expect(refused.refusals.map(\.code) == [.noSuchEntry])
      let own = await harness.submit([
        .append(Send(room: Self.dm, id: "r", text: "re", replyTo: 4), from: "bo")
      ])
      #expect(own.acks.count == 1)
    }
  }

  @Test
  func `a user who blocks another one again and again does not use up that one's blocks`()
    async throws
  {
    try await Conformer.memory.run { harness in
      for number in 0...1000 {
        await harness.submit([
          Self.block("bo", "ada"), Self.text("bo", "\(number)"), Self.block("bo", "ada", false),
        ])
      }
      let tooMany = await harness.submit([Self.block("bo", "ada")])
      #expect(Self.answers(tooMany).map(\.code) == [.limitReached])
      #expect(Self.answers(await harness.submit([Self.block("ada", "bo")])) == [.ok])
    }
  }

  @Test
  func `hidden entries between a user's own are counted only so far`() async throws {
    try await Conformer.memory.run { harness in
      await harness.submit([Self.text("bo", "hello"), Self.block("ada", "bo")])
      for part in 0..<15 {
        await harness.submit(
          (0..<100).flatMap {
            [Self.text("bo", "b\(part).\($0)"), Self.text("ada", "a\(part).\($0)")]
          })
      }
      let unread = await harness.memberships(of: "ada").map(\.unread)
      #expect(unread.map(\.isMore) == [true])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `the first message of a stranger is a request until it is accepted or answered`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      await harness.submit([Self.first("hi")])
      #expect(await glimpse(harness, "ada")?.isRequest == true)
      #expect(await glimpse(harness, "bo")?.isRequest == false)
      // Users of one company know each other.
      let colleague = ReadRequest.Asker(user: "ada", issuer: "https://id.example", now: 1_000)
      let answer = await harness.read {
        .glimpses($0, [(room: Self.dm, seq: Int64(1000))], by: colleague)
      }
      guard case .glimpses(_, let glimpses) = answer else { return }
      #expect(glimpses.map(\.isRequest) == [true])
      // No receipt leaves.
      let marked = await harness.submit([
        .mark(room: Self.dm, Marks(user: "ada", read: 1, received: 1), from: nil)
      ])
      #expect(marked.commit?.marks.map(\.members) == [nil])
      let typing = await harness.submit([.typing(room: Self.dm, user: "ada", on: true)])
      #expect(typing.commit?.typing.isEmpty != false)
      #expect(await harness.subscribe(Self.dm, as: "bo")?.members?.first?.read == 0)
      let accepted = await harness.submit([
        .accept(room: Self.dm, user: "ada", from: Self.origin(.accept))
      ])
      #expect(Self.answers(accepted) == [.ok])
      #expect(await glimpse(harness, "ada")?.isRequest == false)
      #expect(await harness.subscribe(Self.dm, as: "bo")?.members?.first?.read == 1)
      let stranger = await harness.submit([
        .accept(room: Self.dm, user: "cy", from: Self.origin(.accept))
      ])
      #expect(Self.answers(stranger).map(\.isError) == [true])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a report has a copy of its entry, which goes with the entry`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      await harness.submit([
        Self.text("bo", "buy", room: "general"),
        .append(Send(room: "general", id: "e", edit: 1, text: "buy now"), from: "bo"),
      ])
      let reported = await harness.submit([Self.report("ada", 1), Self.report("ada", 1)])
      #expect(Self.answers(reported) == [.ok, .ok])
      #expect(await reports(harness, "general").map(\.copy?.text) == ["buy now"])
      let unknown = await harness.submit([Self.report("ada", 9)])
      #expect(Self.answers(unknown).map(\.code) == [.noSuchEntry])
      await harness.submit([.append(Send(room: "general", id: "d", delete: 1), from: "bo")])
      let left = await reports(harness, "general")
      #expect(left.map(\.by) == ["ada"] && left.map(\.copy) == [nil])
      let records = await history(harness, "root", room: RoomName.reports, isOperator: true)
      #expect(records.map(\.from) == ["sys"])
      #expect(!records.contains { String(decoding: $0.body, as: UTF8.self).contains("buy") })
      #expect(await history(harness, "ada", room: RoomName.reports).isEmpty)
    }
  }

  @Test func `the newest report is shown also where it is longer than an answer usually is`()
    async throws
  {
    try await Conformer.memory.run { harness in
      let long = String(repeating: "buy ", count: 40_000)
      await harness.submit([
        Self.text("bo", "short", room: "general"),
        .append(Send(room: "general", id: "l", text: long), from: "bo"),
        Self.report("ada", 1), Self.report("ada", 2),
      ])
      #expect(await reports(harness, nil).map(\.copy?.text) == [long])
    }
  }

  /// The first message of a stranger.
  private static func first(_ text: String) -> LogRequest {
    let send = Send(room: dm, id: text, text: text)
    return .append(
      LogRequest.Append(
        session: .test, room: send.room, user: "bo", id: send.id, kind: send.kind,
        body: send.body, mayCreate: true, stranger: .init(issuer: "")))
  }

  @Test(arguments: Conformer.allCases, [false, true])
  func `a private room makes two users known to each other once the invited one takes part`(
    _ conformer: Conformer, takesPart: Bool
  ) async throws {
    try await conformer.run { harness in
      await harness.submit([Self.privateRoom("den", of: "bo"), Self.member("ada", of: "bo")])
      if takesPart { await harness.submit([.subscribe("den", "ada")]) }
      await harness.submit([Self.first("hi")])
      #expect(await glimpse(harness, "ada")?.isRequest == !takesPart)
    }
  }

  fileprivate func reports(_ harness: LogHarness, _ room: String?) async -> [ServerMessage.Report] {
    let asker = ReadRequest.Asker(user: "root", isOperator: true, now: 1_000)
    let answer = await harness.read { .reports($0, room: room, by: asker) }
    guard case .read(_, .reports(let reports)) = answer else { return [] }
    return reports
  }

  @Test func `a user makes at most fifty reports a day, and the same one again is none`()
    async throws
  {
    try await Conformer.memory.run { harness in
      for number in 1...60 {
        await harness.submit([Self.text("bo", "\(number)", room: "general")])
      }
      var refused = 0
      for seq in Int64(1)...60 {
        let answers = Self.answers(
          await harness.submit([Self.report("ada", 1), Self.report("ada", seq)]))
        refused += answers.count { $0.code == .limitReached }
      }
      #expect(await reports(harness, nil).count == 50)
      #expect(refused == 20)
      #expect(Self.answers(await harness.submit([Self.report("cy", 60)])) == [.ok])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `what only an operator may do is in the audit`(_ conformer: Conformer) async throws {
    try await conformer.run { harness in
      await harness.submit([
        Self.privateRoom("den", of: "ada"),
        .append(
          Send(room: "den", id: "m", member: MemberChange(user: "bo", role: .banned)),
          from: "root", isOperator: true),
        // Their own room is their own affair.
        Self.privateRoom("attic", of: "root", isOperator: true),
      ])
      let acts = await history(harness, "root", room: RoomName.audit, isOperator: true)
      #expect(
        acts.map { String(decoding: $0.data ?? [], as: UTF8.self) } == [
          #"{"by":"root","verb":"banned","user":"bo","room":"den"}"#
        ])
      let refused = await harness.submit([.subscribe(RoomName.audit, "ada")])
      #expect(refused.refusals.map(\.code) == [.forbidden])
    }
  }
}

extension `Blocks, requests and reports` {
  @Test(arguments: Conformer.allCases)
  func `a room that an operator has deleted has nothing left, and is taken`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      await harness.submit([
        Self.privateRoom("den", of: "ada"), Self.member("bo", of: "ada"),
        Self.text("bo", "plans", room: "den"), Self.report("ada", 3, room: "den"),
      ])
      _ = await harness.subscribe("den", as: "ada")
      let delivery = await harness.submit([
        .deleteRoom("den", .init(by: "root", origin: Self.origin(.deleteRoom))),
        // Of the same batch, and too late.
        Self.text("ada", "more", room: "den"),
      ])
      #expect(Self.answers(delivery) == [.ok])
      #expect(delivery.refusals.map(\.code) == [.noSuchRoom])
      #expect(delivery.commit?.departures.map(\.user) == ["ada"])
      for user in ["ada", "bo"] {
        #expect(await history(harness, user, room: "den").isEmpty)
        #expect(await harness.memberships(of: user).map(\.room) == [])
        #expect(await harness.submit([.subscribe("den", user)]).refusals.count == 1)
      }
      let left = await history(harness, "root", room: "den", isOperator: true)
      #expect(left.map(\.kind) == [.settings])
      #expect(await reports(harness, nil).map(\.copy) == [nil])
      let owner = Send(room: "den", id: "o", member: MemberChange(user: "cy", role: .owner))
      let revived = await harness.submit([.append(owner, from: "root", isOperator: true)])
      #expect(revived.acks.map(\.seq) == [5])
      let direct = await harness.submit([
        .deleteRoom(Self.dm, .init(by: "root", origin: Self.origin(.deleteRoom)))
      ])
      #expect(Self.answers(direct).map(\.code) == [.noSuchRoom])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a ban is stored, told to every loop, and in the audit`(_ conformer: Conformer) async throws
  {
    try await conformer.run { harness in
      let order = LogRequest.Order(by: "root", origin: Self.origin(.ban))
      let ban = BanChange(user: "mallory", isBanned: true, until: 1 << 50)
      let delivery = await harness.submit([
        .ban(ban, order),
        .ban(BanChange(user: "mallory", isBanned: false), order),
      ])
      #expect(delivery.commit?.bans == [ban, BanChange(user: "mallory", isBanned: false)])
      let acts = await history(harness, "root", room: RoomName.audit, isOperator: true)
      #expect(
        acts.map { String(decoding: $0.data ?? [], as: UTF8.self) } == [
          #"{"by":"root","verb":"ban","user":"mallory","until":1125899906842624}"#,
          #"{"by":"root","verb":"unban","user":"mallory"}"#,
        ])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `what an operator does outside of the log is in the audit, each time`(_ conformer: Conformer)
    async throws
  {
    try await conformer.run { harness in
      let order = LogRequest.Order(by: "root", origin: Self.origin(.send))
      let act = Act(by: "root", verb: "end_session", user: "bo", session: "s1")
      let delivery = await harness.submit([.act(act, order), .act(act, order)])
      #expect(Self.answers(delivery) == [.ok, .ok])
      let acts = await history(harness, "root", room: RoomName.audit, isOperator: true)
      let expected = #"{"by":"root","verb":"end_session","user":"bo","session":"s1"}"#
      #expect(acts.map { String(decoding: $0.data ?? [], as: UTF8.self) } == [expected, expected])
    }
  }
}

extension ServerMessage {
  fileprivate var isError: Bool { code != nil }
}
