import Relay
import SQLiteLog
import Testing
import Wire

/// Edits, deletions, reactions, replies and forwards, in every log.
@Suite struct `Entries that refer to other entries` {
  private typealias Send = ClientMessage.Send

  private static func texts(_ harness: LogHarness, _ room: String) async -> [String?] {
    guard case .history(let page)? = await harness.history(.init(room: room)) else { return [] }
    return page.entries.map(\.text)
  }

  private static func folded(
    _ harness: LogHarness, _ room: String, before: Int64? = nil, after: Int64? = nil,
    limit: Int = 50
  ) async -> ServerMessage.HistoryPage? {
    let answer = await harness.history(
      .init(room: room, before: before, after: after, limit: limit, isFolded: true))
    guard case .history(let page)? = answer else { return nil }
    return page
  }

  @Test(arguments: Conformer.allCases)
  func `an edit is an entry of its own, and the folded text is the last one`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      await harness.submit([.append("r", "ada", "1", text: "helo"), .append("r", "bo", "2")])
      for (id, text) in [("3", "hello"), ("4", "hello!")] {
        let edit = Send(room: "r", id: id, edit: 1, text: text)
        #expect(await harness.submit([.append(edit, from: "ada")]).refusals.isEmpty)
      }
      #expect(await Self.texts(harness, "r") == ["helo", "hi", "hello", "hello!"])
      let page = try #require(await Self.folded(harness, "r"))
      #expect(page.entries.map(\.seq) == [1, 2])
      #expect(page.entries.map(\.text) == ["hello!", "hi"])
      #expect(page.entries.map { $0.editedAt != nil } == [true, false])
      #expect(page.head == 4)
      #expect(!page.more)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a deleted text and its edits are in no later read`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      await harness.submit([.append("r", "ada", "1", text: "secret")])
      await harness.submit([
        .append(Send(room: "r", id: "2", edit: 1, text: "secret too"), from: "ada")
      ])
      let delivery = await harness.submit([
        .append(Send(room: "r", id: "3", edit: 1, text: "secret three"), from: "ada"),
        .append(Send(room: "r", id: "4", delete: 1), from: "ada"),
      ])
      #expect(delivery.acks.map(\.seq) == [3, 4])
      #expect(await Self.texts(harness, "r") == ["", "", "", nil])
      let page = try #require(await harness.page("r", after: 0, through: 4))
      #expect(page.frames.entries.map(\.kind) == [.text, .edit, .edit, .delete])
      #expect(page.frames.entries.allSatisfy { ($0.text ?? "").isEmpty })
      let folded = try #require(await Self.folded(harness, "r"))
      #expect(folded.entries.map(\.isDeleted) == [true])
      // Neither is content that was deleted in its own commit.
      #expect(delivery.commit?.entries.map { $0.text ?? "" } == ["", ""])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `data is deleted like a text, and every read shows it as deleted`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      await harness.submit([
        .append("r", "ada", "1", data: "{\"secret\":1}"), .append("r", "ada", "2", data: "null"),
      ])
      let delete = Send(room: "r", id: "3", delete: 1)
      let delivery = await harness.submit([
        .append(delete, from: "ada"), .append("r", "ada", "4", data: "\"secret\""),
        .append(Send(room: "r", id: "5", delete: 4), from: "ada"),
      ])
      #expect(delivery.acks.map(\.seq) == [3, 4, 5])
      #expect(delivery.commit?.redactions.map(\.through) == [1])
      let gone = await harness.submit([.append(Send(room: "r", id: "6", delete: 1), from: "ada")])
      #expect(gone.refusals.map(\.code) == [.noSuchEntry])
      guard case .history(let raw)? = await harness.history(.init(room: "r")) else {
        Issue.record("no history")
        return
      }
      let folded = try #require(await Self.folded(harness, "r"))
      let page = try #require(await harness.page("r", after: 0, through: 5))
      for entries in [raw.entries, folded.entries, page.frames.entries] {
        let data = entries.filter { $0.kind == .data }
        #expect(data.map(\.seq) == [1, 2, 4])
        #expect(data.map(\.isDeleted) == [true, false, true])
        #expect(data.allSatisfy { $0.data.map(Array.init) == Array("null".utf8) })
      }
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a text that is deleted in the batch that brings it is never shown`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      let delivery = await harness.submit([
        .append("r", "ada", "1", text: "secret"),
        .append(Send(room: "r", id: "2", delete: 1), from: "ada"),
        .append("r", "ada", "1", text: "secret"),
      ])
      #expect(delivery.acks.map(\.seq) == [1, 2, 1])
      #expect(delivery.commit?.entries.map { $0.text ?? "" } == ["", ""])
      #expect(await Self.texts(harness, "r") == ["", nil])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `each user gives and removes only their own reactions`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      await harness.submit([.append("r", "ada", "1")])
      var id = 10
      for (user, emoji, isOn) in [
        ("bo", "👍", true), ("ada", "👍", true), ("bo", "🎉", true), ("bo", "👍", true),
        ("ada", "👍", false), ("bo", "🎉", false),
      ] {
        id += 1
        let react = Send(room: "r", id: "\(id)", react: 1, emoji: emoji, isOn: isOn)
        #expect(await harness.submit([.append(react, from: user)]).refusals.isEmpty)
      }
      let entry = try #require(await Self.folded(harness, "r")?.entries.first)
      #expect(entry.reactions.map(\.emoji) == ["👍"])
      #expect(entry.reactions.map(\.users) == [["bo"]])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a change that is not allowed is refused with the reason`(_ conformer: Conformer)
    async throws
  {
    try await conformer.run { harness in
      await harness.submit([
        .append("r", "ada", "1"), .append("r", "ada", "2", data: "1"),
        .append(Send(room: "r", id: "3", edit: 1, text: "again"), from: "ada"),
        .append("r", "ada", "4"),
      ])
      await harness.submit([.append(Send(room: "r", id: "5", delete: 4), from: "ada")])
      let refused: [(Send, String, ErrorCode)] = [
        (Send(room: "r", id: "a", edit: 1, text: "mine"), "bo", .forbidden),
        (Send(room: "r", id: "b", delete: 1), "bo", .forbidden),
        (Send(room: "r", id: "c", edit: 3, text: "edit of an edit"), "ada", .noSuchEntry),
        (Send(room: "r", id: "d", edit: 2, text: "of data"), "ada", .noSuchEntry),
        (Send(room: "r", id: "e", react: 4, emoji: "👍", isOn: true), "bo", .noSuchEntry),
        (Send(room: "r", id: "f", edit: 4, text: "deleted"), "ada", .noSuchEntry),
        (Send(room: "r", id: "g", delete: 4), "ada", .noSuchEntry),
        (Send(room: "r", id: "n", delete: 2), "bo", .forbidden),
        (Send(room: "r", id: "o", delete: 3), "ada", .noSuchEntry),
        (Send(room: "r", id: "p", react: 2, emoji: "👍", isOn: true), "bo", .noSuchEntry),
        (Send(room: "r", id: "q", forward: Forward(room: "r", seq: 2)), "bo", .noSuchEntry),
        (Send(room: "r", id: "h", delete: 99), "ada", .noSuchEntry),
        (Send(room: "r", id: "i", delete: 0), "ada", .noSuchEntry),
        (Send(room: "new", id: "j", react: 1, emoji: "👍", isOn: true), "bo", .noSuchEntry),
        (Send(room: "r", id: "k", text: "to what?", replyTo: 6), "bo", .noSuchEntry),
        (Send(room: "r", id: "l", forward: Forward(room: "r", seq: 4)), "bo", .noSuchEntry),
        (Send(room: "r", id: "m", forward: Forward(room: "none", seq: 1)), "bo", .noSuchEntry),
      ]
      for (send, user, code) in refused {
        let refusals = await harness.submit([.append(send, from: user)]).refusals
        #expect(refusals.map(\.code) == [code], "\(send)")
        #expect(refusals.map(\.id) == [send.id])
        #expect(refusals.map(\.room) == [send.room])
      }
      // Nothing of it was stored, and no room was created.
      #expect(await harness.submit([.append("r", "ada", "6")]).acks.map(\.seq) == [6])
      #expect(await harness.history(.init(room: "new"))?.json.isEmpty == false)
      #expect(await harness.memberships(of: "bo").isEmpty)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a reply and its edits keep the reference`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      await harness.submit([.append("r", "ada", "1")])
      await harness.submit([.append(Send(room: "r", id: "2", text: "yes", replyTo: 1), from: "bo")])
      await harness.submit([.append(Send(room: "r", id: "3", edit: 2, text: "no"), from: "bo")])
      let entry = try #require(await Self.folded(harness, "r")?.entries.last)
      #expect(entry.text == "no")
      #expect(entry.replyTo == 1)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a forward has the current text and the sender of its source`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      await harness.submit([.append("a", "ada", "1", text: "one \"quoted\"")])
      await harness.submit([
        .append(Send(room: "a", id: "2", edit: 1, text: "two\n\"quoted\""), from: "ada")
      ])
      let forward = Send(room: "b", id: "3", forward: Forward(room: "a", seq: 1))
      let entry = try #require(
        await harness.submit([.append(forward, from: "bo")]).commit?.entries.first)
      #expect(entry.text == "two\n\"quoted\"")
      #expect(entry.from == "bo")
      #expect(entry.forward == Forward(room: "a", seq: 1, from: "ada"))
      // It has the words of another user: it may be forwarded or deleted, but not edited.
      let edit = Send(room: "b", id: "4", edit: 1, text: "what ada never said")
      #expect(
        await harness.submit([.append(edit, from: "bo")]).refusals.map(\.code) == [.forbidden])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a repeated id is a duplicate, even if its target was deleted meanwhile`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      let edit = Send(room: "r", id: "2", edit: 1, text: "changed")
      await harness.submit([.append("r", "ada", "1"), .append(edit, from: "ada")])
      await harness.submit([.append(Send(room: "r", id: "3", delete: 1), from: "ada")])
      let again = await harness.submit([.append(edit, from: "ada")])
      #expect(again.acks.map(\.seq) == [2])
      #expect(again.acks.allSatisfy { $0.duplicate })
    }
  }

  @Test(arguments: Conformer.allCases)
  func `only texts and data count as unread`(_ conformer: Conformer) async throws {
    try await conformer.run { harness in
      _ = await harness.subscribe("r", as: "bo")
      await harness.submit([.append("r", "ada", "1"), .append("r", "ada", "2")])
      await harness.submit([
        .append(Send(room: "r", id: "3", edit: 1, text: "x"), from: "ada"),
        .append(Send(room: "r", id: "4", react: 2, emoji: "👍", isOn: true), from: "ada"),
        .append("r", "ada", "5"),
      ])
      #expect(await harness.memberships(of: "bo").map(\.unread.count) == [3])
      let delivery = await harness.submit([
        .mark(room: "r", Marks(user: "bo", read: 1, received: 1))
      ])
      #expect(delivery.commit?.marks.map(\.unread.count) == [2])
      await harness.submit([.mark(room: "r", Marks(user: "bo", read: 3, received: 3))])
      #expect(await harness.memberships(of: "bo").map(\.unread.count) == [1])
      // A user who is not a member has nothing to read there.
      #expect(await harness.memberships(of: "cy", listed: ["r"]).map(\.unread.count) == [0])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `the unread count is right if entries are no longer kept`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run(retention: .keeping(10)) { harness in
      _ = await harness.subscribe("r", as: "bo")
      await harness.submit([.append("r", "ada", "0")])
      for id in 1...30 {
        let react = Send(room: "r", id: "r\(id)", react: Int64(id * 2 - 1), emoji: "👍", isOn: true)
        await harness.submit([.append(react, from: "ada"), .append("r", "ada", "\(id)")])
      }
      try await harness.becomesFirst(52)
      let row = try #require(await harness.memberships(of: "bo").first)
      let page = try #require(await Self.folded(harness, "r"))
      #expect(row.unread.count == Int64(page.entries.count))
    }
  }

  @Test(arguments: Conformer.allCases)
  func `folded pages are full, and lead through the whole room in both directions`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      var texts: [Int64] = []
      var seq: Int64 = 0
      for round in 0..<20 {
        seq += 1
        texts.append(seq)
        var batch = [LogRequest.append("r", "ada", "t\(round)")]
        for number in 0..<(round % 5) {
          seq += 1
          let react = Send(
            room: "r", id: "x\(round)-\(number)", react: texts[round / 2], emoji: "\(number)",
            isOn: true)
          batch.append(.append(react, from: "ada"))
        }
        await harness.submit(batch)
      }
      var seen: [Int64] = []
      var before: Int64?
      repeat {
        let page = try #require(await Self.folded(harness, "r", before: before, limit: 3))
        #expect(page.entries.count == 3 || !page.more)
        seen = page.entries.map(\.seq) + seen
        before = page.more ? page.entries.first?.seq : nil
      } while before != nil
      #expect(seen == texts)
      seen = []
      var after: Int64? = 0
      repeat {
        let page = try #require(await Self.folded(harness, "r", after: after, limit: 3))
        seen += page.entries.map(\.seq)
        after = page.more ? page.entries.last?.seq : nil
      } while after != nil
      #expect(seen == texts)
    }
  }

  @Test(arguments: Conformer.allCases)
  func
    `users that connect and disconnect are reported once, and when they were last online is stored`(
      _ conformer: Conformer
    ) async throws
  {
    try await conformer.run(loops: 2) { harness in
      let came = await harness.submit([.presence(user: "ada", from: .offline, to: .online)])
      #expect(came.commit?.presences.map(\.presence) == [.online])
      // On another loop as well: nothing changes until both have lost them.
      let second = await harness.submit(
        [.presence(user: "ada", from: .offline, to: .away)], from: 1)
      #expect(second.commit?.presences.isEmpty != false)
      let away = await harness.submit([.presence(user: "ada", from: .online, to: .offline)])
      #expect(away.commit?.presences.map(\.presence) == [.away])
      let gone = await harness.submit([.presence(user: "ada", from: .away, to: .offline)], from: 1)
      #expect(gone.commit?.presences.map(\.presence) == [.offline])
      let at = try #require(gone.commit?.presences.first?.at)
      // Within a batch only its end counts.
      let both = await harness.submit([
        .presence(user: "bo", from: .offline, to: .online),
        .presence(user: "bo", from: .online, to: .offline),
      ])
      #expect(both.commit?.presences.isEmpty != false)
      let answer = await harness.read { .lastSeen($0, ["ada", "bo", "cy"], for: .people) }
      guard case .lastSeen(_, let seen) = answer else {
        Issue.record("\(answer)")
        return
      }
      #expect(seen.at == ["ada": at])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `the users who were online are listed page by page, in one order`(_ conformer: Conformer)
    async throws
  {
    try await conformer.run(loops: 1) { harness in
      // What some collations ignore or order otherwise.
      let names = ["a", "a-b", "a.b", "a_b", "ab", "b", "-", "9"]
      for name in names {
        await harness.submit([.presence(user: name, from: .offline, to: .online)])
        await harness.submit([.presence(user: name, from: .online, to: .offline)])
      }
      let all = await harness.read { _ in .users(after: "", limit: 100) }
      #expect(all.users?.sorted() == names.sorted())
      var (listed, last) = ([String](), "")
      for length in [3, 3, 2, 0] {
        let page = await harness.read { [last] _ in .users(after: last, limit: 3) }
        #expect(page.users?.count == length)
        listed += page.users ?? []
        last = listed.last ?? ""
      }
      #expect(listed == all.users)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `the time at which a user came is stored soon, also if nothing else happens`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run(loops: 1) { harness in
      let came = await harness.submit([.presence(user: "ada", from: .offline, to: .online)])
      let at = try #require(came.commit?.presences.first?.at)
      var stored: [String: Int64] = [:]
      let end = ContinuousClock.now + .seconds(60)
      while stored.isEmpty, ContinuousClock.now < end {
        try await Task.sleep(for: .milliseconds(20))
        let answer = await harness.read { .lastSeen($0, ["ada"], for: .people) }
        if case .lastSeen(_, let seen) = answer { stored = seen.at }
      }
      #expect(stored == ["ada": at])
    }
  }
}
