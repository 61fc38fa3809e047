import Relay
import Testing
import Wire

/// The erasure of a user, in every log.
@Suite struct `Erasing a user` {
  private typealias Send = ClientMessage.Send

  private static func origin(_ re: RequestName) -> LogRequest.Origin {
    LogRequest.Origin(session: .test, re: re, ref: "r")
  }

  private static func erase(_ room: String?, _ seq: Int64? = nil) -> LogRequest {
    .erase(
      .init(user: "bo", room: room, seq: seq), .init(by: "root", origin: origin(.erase)))
  }

  private static func answers(_ delivery: LogDelivery) -> [ServerMessage] {
    delivery.answers.compactMap { if case .answer(_, let message) = $0 { message } else { nil } }
  }

  private func history(
    _ harness: LogHarness, room: String, as user: String = "ada", isFolded: Bool = false
  ) async -> [Entry] {
    let request = ClientMessage.HistoryRequest(room: room, limit: 100, isFolded: isFolded)
    let asker = ReadRequest.Asker(user: user, isOperator: user == "root", now: 1_000)
    guard case .history(let page)? = await harness.history(request, by: asker) else { return [] }
    return page.entries
  }

  private static let words = ["mine", "changed", "of bo", "👍"]

  @Test(arguments: Conformer.allCases)
  func `what the user has said keeps its place and loses its content, for everyone`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      await harness.submit([
        .append("tea", "bo", "1", text: "mine"), .append("tea", "bo", "2", data: #"{"x":"of bo"}"#),
        .append("tea", "ada", "3", text: "hers"),
      ])
      await harness.submit([
        .append(Send(room: "tea", id: "e", edit: 1, text: "changed"), from: "bo"),
        .append(Send(room: "tea", id: "r", react: 3, emoji: "👍", isOn: true), from: "bo"),
        .append(
          Send(room: "tea", id: "f", forward: Forward(room: "tea", seq: 1, from: "")), from: "ada"),
      ])
      _ = await harness.subscribe("tea", as: "ada")
      // Those of one batch, the last one first.
      let delivery = await harness.submit(
        (1...6).reversed().filter { $0 != 3 }.map {
          Self.erase("tea", Int64($0))
        })
      #expect(Self.answers(delivery) == Array(repeating: .ok, count: 5))
      // Clients that show them are told by entries.
      let told = delivery.commit?.entries ?? []
      #expect(told.map(\.kind) == [.delete, .react, .delete, .delete])
      #expect(told.map(\.target) == [6, 3, 2, 1])
      #expect(told.map(\.from) == ["sys", "bo", "sys", "sys"])
      #expect(told[1].reaction?.isOn == false)
      #expect(delivery.commit?.redactions.map(\.room) == ["tea"])
      let folded = await history(harness, room: "tea", isFolded: true)
      #expect(folded.map(\.text) == ["", nil, "hers", ""])
      #expect(folded.map(\.deletedBy) == ["sys", "sys", nil, "sys"])
      #expect(folded[2].reactions.isEmpty)

      // What took the reaction back has its emoji.
      #expect(told[1].seq == 8)
      await harness.submit([Self.erase("tea", 8)])
      let entries = await history(harness, room: "tea")
      let bodies = entries.map { String(decoding: $0.body, as: UTF8.self) }.joined(separator: "\n")
      for word in Self.words { #expect(!bodies.contains(word)) }
      #expect(entries.map(\.from).prefix(6) == ["bo", "bo", "ada", "bo", "bo", "ada"])
      let page = try #require(await harness.page("tea", after: 0, through: 10))
      #expect(page.frames.entries == entries)

      let again = await harness.submit(
        ([1, 2, 4, 5, 6, 8] as [Int64]).map { Self.erase("tea", $0) })
      #expect(Self.answers(again) == Array(repeating: .ok, count: 6))
      #expect(again.commit == nil)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `an entry of another user is refused, and one that does not exist is none any more`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      await harness.submit([.append("tea", "ada", "1", text: "hers")])
      let delivery = await harness.submit([
        Self.erase("tea", 1), Self.erase("tea", 2), Self.erase("nowhere", 1), Self.erase("nowhere"),
      ])
      let answers = Self.answers(delivery)
      #expect(answers.map(\.code) == [.noSuchEntry, nil, nil, nil])
      #expect(await history(harness, room: "tea").map(\.text) == ["hers"])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `the room of the last owner belongs to the operators, and keeps what others have made of it`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      var settings = RoomSettings.Change()
      (settings.title, settings.access) = ("Bo's den", .private)
      func member(_ user: String, _ role: Role, by: String = "bo") -> LogRequest {
        .append(
          Send(
            room: "den", id: "m\(user)\(role)",
            member: MemberChange(user: user, role: role, reason: "of bo")), from: by)
      }
      await harness.submit([
        .append(Send(room: "den", id: "s", settings: settings), from: "bo"),
        member("ada", .moderator), member("mallory", .banned),
        .append("den", "ada", "1", text: "hello"),
      ])
      _ = await harness.subscribe("den", as: "bo")
      let left = await harness.submit([
        Self.erase("den", 3), Self.erase("den", 2), Self.erase("den"),
      ])
      #expect(Self.answers(left) == [.ok, .ok, .ok])
      #expect(left.commit?.departures.map(\.user) == ["bo"])
      #expect(left.commit?.entries.map(\.member?.role) == [Role.none])
      #expect(await harness.memberships(of: "bo").isEmpty)
      #expect(await harness.submit([.subscribe("den", "bo")]).refusals.count == 1)
      #expect(await harness.submit([.subscribe("den", "mallory")]).refusals.count == 1)
      let about = await harness.subscribe("den", as: "ada")?.about
      #expect(about?.title == "Bo's den")
      #expect(about?.role == .moderator)
      // A moderator does not become the owner by asking, an operator can make one.
      let asked = await harness.submit([member("ada", .owner, by: "ada")])
      #expect(asked.refusals.map(\.code) == [.forbidden])
      let given = await harness.submit([
        .append(
          Send(room: "den", id: "o", member: MemberChange(user: "ada", role: .owner)), from: "root",
          isOperator: true)
      ])
      #expect(given.acks.count == 1)
      let bodies = await history(harness, room: "den").map {
        String(decoding: $0.body, as: UTF8.self)
      }
      #expect(!bodies.joined().contains("of bo"))
    }
  }

  @Test(arguments: Conformer.allCases)
  func `blocks go both ways, and marks with the membership`(_ conformer: Conformer) async throws {
    try await conformer.run { harness in
      await harness.submit([
        .append("dm:ada:bo", "bo", "1", text: "hi"), .append("dm:ada:bo", "ada", "2", text: "no"),
      ])
      func block(_ user: String, _ blocked: String) -> LogRequest {
        .block(.init(user: user, blocked: blocked, on: true, origin: Self.origin(.block)))
      }
      await harness.submit([block("ada", "bo"), block("bo", "ada"), block("bo", "cy")])
      let delivery = await harness.submit([Self.erase("dm:ada:bo"), Self.erase("dm:bo:cy")])
      let ended = delivery.commit?.blocks ?? []
      #expect(ended.map(\.user) == ["bo", "ada", "bo"])
      #expect(ended.allSatisfy { $0.at == nil })
      #expect(await harness.memberships(of: "bo").isEmpty)
      #expect(await harness.memberships(of: "ada").map(\.room) == ["dm:ada:bo"])
      // What the other has said stays.
      #expect(await history(harness, room: "dm:ada:bo").map(\.text) == ["hi", "no"])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `reports lose the reasons of the user, and the audit has the erasure`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      func report(_ user: String, _ seq: Int64) -> LogRequest {
        .report(
          .init(
            room: "tea", seq: seq, user: user, isOperator: false, reason: "says \(user)",
            origin: Self.origin(.report)))
      }
      await harness.submit([
        .append("tea", "bo", "1", text: "mine"), .append("tea", "ada", "2", text: "hers"),
      ])
      await harness.submit([report("ada", 1), report("bo", 2), report("ada", 2)])
      let delivery = await harness.submit([
        Self.erase("tea", 1), Self.erase("sys:reports", 1), Self.erase("sys:reports", 2),
        Self.erase("sys:reports", 3), Self.erase(nil),
      ])
      // The third is about others alone.
      #expect(Self.answers(delivery).compactMap(\.code) == [.noSuchEntry])
      #expect(Self.answers(delivery).count == 5)
      let kept = await history(harness, room: "sys:reports", as: "root").compactMap {
        try? ServerMessage.Report(recorded: $0)
      }
      #expect(kept.map(\.reason) == ["says ada", "", "says ada"])
      #expect(kept.map(\.copy?.text) == [nil, "hers", "hers"])
      let acts = await history(harness, room: "sys:audit", as: "root")
      #expect(
        acts.map { String(decoding: $0.data ?? [], as: UTF8.self) } == [
          #"{"by":"root","verb":"erase","user":"bo"}"#
        ])
    }
  }
}
