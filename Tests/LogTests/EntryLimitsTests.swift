import Mixing
import Relay
import SQLiteLog
import Testing
import Wire

/// Very many entries that refer to one other, for every log.
@Suite struct `Limits of edits and reactions of an entry` {
  private typealias Send = ClientMessage.Send

  private static func folded(
    _ harness: LogHarness, before: Int64? = nil, limit: Int = 500
  ) async -> ServerMessage.HistoryPage? {
    let answer = await harness.history(
      .init(room: "r", before: before, limit: limit, isFolded: true))
    guard case .history(let page)? = answer else { return nil }
    return page
  }

  private static func edit(_ number: Int, of target: Int64 = 1) -> LogRequest {
    .append(
      Send(room: "r", id: "e\(number)", edit: target, text: "secret \(number)"), from: "ada")
  }

  private static func react(
    _ number: Int, _ emoji: String, by user: String, on isOn: Bool = true
  ) -> LogRequest {
    .append(Send(room: "r", id: "r\(number)", react: 1, emoji: emoji, isOn: isOn), from: user)
  }

  @Test(arguments: Conformer.allCases)
  func `a text is edited up to the limit, in batches of any size`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run(limits: EntryLimits(editsPerEntry: 7)) { harness in
      await harness.submit([.append("r", "ada", "1"), .append("r", "ada", "2")])
      #expect(await harness.submit((1...3).map { Self.edit($0) }).refusals.isEmpty)
      let beyond = await harness.submit((4...9).map { Self.edit($0) })
      #expect(beyond.acks.map(\.id) == ["e4", "e5", "e6", "e7"])
      #expect(beyond.refusals.map(\.id) == ["e8", "e9"])
      #expect(
        beyond.refusals.allSatisfy { $0.code == .limitReached && $0.field == "edits_per_entry" })
      #expect(await harness.submit([Self.edit(10)]).refusals.map(\.code) == [.limitReached])
      // The other text, a reaction and the deletion are no edits of it.
      let others = await harness.submit([
        Self.edit(11, of: 2), Self.react(12, "👍", by: "bo"),
        .append(Send(room: "r", id: "13", delete: 1), from: "ada"),
      ])
      #expect(others.refusals.isEmpty)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `an entry has different emoji up to the limit, ten of them by one user`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run(limits: EntryLimits(reactionsPerEntry: 12)) { harness in
      await harness.submit([.append("r", "ada", "1")])
      let ten = await harness.submit((1...11).map { Self.react($0, "a\($0)", by: "ada") })
      #expect(ten.refusals.map(\.id) == ["r11"])
      let twelve = await harness.submit((1...3).map { Self.react($0, "b\($0)", by: "bo") })
      #expect(twelve.refusals.map(\.id) == ["r3"])
      #expect(
        (ten.refusals + twelve.refusals).allSatisfy {
          $0.code == .limitReached && $0.field == "reactions_per_entry"
        })
      // An existing emoji may be given by another user, and again; a missing one may be removed.
      let more = await harness.submit([
        Self.react(20, "a1", by: "bo"), Self.react(21, "a1", by: "bo"),
        Self.react(22, "zz", by: "bo", on: false),
      ])
      #expect(more.refusals.isEmpty)
      #expect(more.acks.count == 3)
      // A removed one makes room for the user; for the entry, if no other user gives it.
      await harness.submit([Self.react(30, "a1", by: "ada", on: false)])
      #expect(
        await harness.submit([Self.react(31, "c", by: "ada")]).refusals.map(\.code) == [
          .limitReached
        ])
      await harness.submit([Self.react(32, "a2", by: "ada", on: false)])
      #expect(await harness.submit([Self.react(33, "c", by: "ada")]).refusals.isEmpty)
      let entry = try #require(await Self.folded(harness)?.entries.first)
      #expect(entry.reactions.map(\.emoji) == (3...10).map { "a\($0)" } + ["b1", "b2", "a1", "c"])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `nothing is refused where there is no limit`(_ conformer: Conformer) async throws {
    let limits = EntryLimits(editsPerEntry: 0, reactionsPerEntry: 0)
    try await conformer.run(limits: limits) { harness in
      await harness.submit([.append("r", "ada", "1")])
      let edits = await harness.submit((1...150).map { Self.edit($0) })
      let reactions = await harness.submit((1...80).map { Self.react($0, "x\($0)", by: "bo") })
      #expect(edits.acks.map(\.seq) == Array(2...151))
      #expect(edits.refusals.isEmpty)
      #expect(reactions.acks.map(\.seq) == Array(152...231))
      #expect(reactions.refusals.isEmpty)
      // The emoji whose UTF-8 sorts first are shown.
      let entry = try #require(await Self.folded(harness)?.entries.first)
      let first = (1...80).map { "x\($0)" }.sorted().prefix(Reaction.emojiLimit)
      #expect(Set(entry.reactions.map(\.emoji)) == Set(first))
      #expect(entry.text == "secret 150")
    }
  }

  @Test(arguments: Conformer.allCases)
  func `after a text is deleted none of its edits is delivered, however many there are`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run(limits: EntryLimits(editsPerEntry: 0)) { harness in
      await harness.submit([.append("r", "ada", "1", text: "secret"), .append("r", "ada", "2")])
      for batch in 0..<20 {
        await harness.submit((1...50).map { Self.edit(batch * 50 + $0) })
      }
      let delivery = await harness.submit([
        .append(Send(room: "r", id: "d", delete: 1), from: "ada")
      ])
      #expect(delivery.acks.map(\.seq) == [1003])
      // Loops drop everything that they have of it in memory.
      #expect(delivery.commit?.redactions.map(\.through) == [1002])
      for after in stride(from: 0, to: 1003, by: 100) as StrideTo<Int64> {
        let page = try #require(await harness.page("r", after: after, through: after + 100))
        #expect(page.frames.entries.allSatisfy { $0.text != nil || $0.kind == .delete })
        #expect(page.frames.entries.allSatisfy { !($0.text ?? "").contains("secret") })
        let history = await harness.history(.init(room: "r", after: after, limit: 100))
        #expect(
          history.map { !String(decoding: $0.json, as: UTF8.self).contains("secret") } == true)
      }
      #expect(await Self.folded(harness)?.entries.map(\.text) == ["", "hi"])
      let forward = Send(room: "q", id: "f", forward: Forward(room: "r", seq: 1))
      #expect(
        await harness.submit([.append(forward, from: "bo")]).refusals.map(\.code) == [.noSuchEntry])
    }
  }

  @Test(arguments: Conformer.allCases, 1...4)
  func `a folded page equals the result of applying all entries`(
    _ conformer: Conformer, seed: UInt64
  ) async throws {
    var dice = SplitMix64(seed: seed)
    let kept: Int64? = seed % 2 == 0 ? 150 : nil
    try await conformer.run(
      retention: kept.map { .keeping($0) },
      limits: EntryLimits(editsPerEntry: 0, reactionsPerEntry: 0)
    ) { harness in
      var head: Int64 = 0
      for batch in 0..<120 {
        let requests = (0..<Int.random(in: 1...8, using: &dice)).map { number in
          let id = "\(batch)-\(number)"
          let target = Int64.random(in: max(1, head - 30)...head + 1, using: &dice)
          let send =
            switch Int.random(in: 0..<10, using: &dice) {
            case 0...1: Send(room: "r", id: id, text: "text \(id)")
            case 2: Send(room: "r", id: id, edit: target, text: "edit \(id)")
            case 3 where Int.random(in: 0..<4, using: &dice) == 0:
              Send(room: "r", id: id, delete: target)
            default:
              Send(
                room: "r", id: id, react: target,
                emoji: ["👍", "🎉", "\"", "é"].randomElement(using: &dice) ?? "",
                isOn: Int.random(in: 0..<3, using: &dice) > 0)
            }
          return LogRequest.append(
            send, from: ["ada", "bo", "cy"].randomElement(using: &dice) ?? "")
        }
        head = max(head, await harness.submit(requests).acks.map(\.seq).max() ?? 0)
      }
      if let kept { try await harness.becomesFirst(head - kept + 1) }
      var raw: [Entry] = []
      var after: Int64 = 0
      while case .history(let page)? = await harness.history(
        .init(room: "r", after: after, limit: 100)),
        let last = page.entries.last
      {
        raw += page.entries
        after = last.seq
      }
      let truth = raw.filter(\.kind.isContent).map { entry in
        entry.folded(with: raw.filter { !$0.kind.isContent && $0.target == entry.seq })
      }
      #expect(truth.contains { $0.reactions.count > 1 })
      #expect(truth.contains { $0.editedAt != nil })
      #expect(await Self.folded(harness)?.entries == truth)
      for before in stride(from: after + 1, to: 1, by: -37) {
        let expected = truth.filter { $0.seq < before }.suffix(9)
        let page = await Self.folded(harness, before: before, limit: 9)
        #expect(page?.entries == Array(expected))
        #expect(page?.more == (expected.count < truth.filter { $0.seq < before }.count))
      }
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a reply stays within its bound and counts all users that reacted`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      await harness.submit([.append("r", "ada", "1"), .append("r", "ada", "2")])
      let name = String(repeating: "n", count: 58)
      for batch in 0..<2 {
        await harness.submit(
          (0..<1000).map { number in
            let user = "\(name)-\(10_000 + batch * 1000 + number)"
            return Self.react(batch * 1000 + number, number % 3 == 0 ? "👍" : "🎉", by: user)
          })
      }
      let page = try #require(await Self.folded(harness))
      let entry = try #require(page.entries.first)
      #expect(page.entries.map(\.seq) == [1, 2])
      #expect(entry.body.count < Reaction.Budget.limitBytes + 200)
      #expect(entry.reactions.map(\.emoji) == ["👍", "🎉"])
      #expect(
        entry.reactions.map { Int64($0.users.count) + (entry.reactionsMore[$0.emoji] ?? 0) }
          == [668, 1332])
      #expect(entry.reactions.allSatisfy { $0.users.count > 50 })
      #expect(entry.reactions.first?.users.first == "\(name)-10000")
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a reply is at most 128 KiB and a little, with the worst content that there is`(
    _ conformer: Conformer
  ) async throws {
    let room = String(repeating: "r", count: 140)
    let user = String(repeating: "u", count: 64)
    let emoji = (10..<60).map { String(repeating: "\"", count: 62) + "\($0)" }
    try await conformer.run { harness in
      // A text of nothing but escapes, and data as large as a frame.
      let text = String(repeating: "\\", count: 8192)
      let data = "\"" + String(repeating: "x", count: 65_000) + "\""
      for number in 10..<40 {
        let id = String(repeating: "\"", count: 62) + "\(number)"
        if number % 3 == 0 {
          await harness.submit([.append(room, user, id, data: data)])
        } else {
          await harness.submit([.append(room, user, id, text: number % 3 == 1 ? text : "\\")])
        }
      }
      for number in 0..<250 {
        let react = Send(
          room: room, id: "\(number)", react: 1, emoji: emoji[number % 50], isOn: true)
        let sender = String(repeating: "v", count: 61) + "\(100 + number / 10)"
        await harness.submit([.append(react, from: sender)])
      }
      for isFolded in [false, true] {
        for limit in [1, 5, 50, 500] {
          for (before, after) in [(nil, nil), (31, nil), (nil, 0), (nil, 1)] as [(Int64?, Int64?)] {
            let message = await harness.history(
              .init(room: room, before: before, after: after, limit: limit, isFolded: isFolded))
            let bytes = message?.json.count ?? .max
            #expect(bytes <= 131_072 + 512, "\(isFolded) \(limit) \(before ?? -1) \(after ?? -1)")
          }
        }
      }
    }
  }
}
