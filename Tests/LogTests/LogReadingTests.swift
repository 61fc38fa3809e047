import Relay
import Testing
import Wire

@Suite struct `The contract of a log: reading` {
  @Test(arguments: Conformer.allCases)
  func `history pages from the newest backwards and from the oldest forwards`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      await harness.submit((1...25).map { .append("general", "ada", "\($0)") })
      func page(
        before: Int64? = nil, after: Int64? = nil
      ) async throws -> ServerMessage.HistoryPage {
        let message = await harness.history(
          ClientMessage.HistoryRequest(room: "general", before: before, after: after, limit: 10))
        guard case .history(let page) = message else { throw NotAPage() }
        #expect(page.head == 25)
        #expect(page.first == 1)
        #expect(page.room == "general")
        return page
      }
      var newest = try await page()
      #expect(newest.entries.map(\.seq) == Array(16...25))
      #expect(newest.more)
      newest = try await page(before: 16)
      #expect(newest.entries.map(\.seq) == Array(6...15))
      #expect(newest.more)
      newest = try await page(before: 6)
      #expect(newest.entries.map(\.seq) == Array(1...5))
      #expect(!newest.more)
      #expect(try await page(before: 1).entries.isEmpty)
      #expect(try await page(before: 1000).entries.map(\.seq) == Array(16...25))
      var oldest = try await page(after: 0)
      #expect(oldest.entries.map(\.seq) == Array(1...10))
      #expect(oldest.more)
      oldest = try await page(after: 15)
      #expect(oldest.entries.map(\.seq) == Array(16...25))
      #expect(!oldest.more)
      oldest = try await page(after: 25)
      #expect(oldest.entries.isEmpty)
      #expect(!oldest.more)
    }
  }

  struct NotAPage: Error {}

  @Test(arguments: Conformer.allCases)
  func `a page keeps to its bytes, but has at least one entry`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      let text = String(repeating: "x", count: 1000)
      await harness.submit((1...20).map { .append("general", "ada", "\($0)", text: text) })
      for limitBytes in [1, 5000] {
        let newest = await harness.history(
          ClientMessage.HistoryRequest(room: "general", limit: 20), limitBytes: limitBytes)
        guard case .history(let page) = newest else { throw NotAPage() }
        #expect(page.entries.last?.seq == 20)
        #expect(page.more)
        #expect(limitBytes == 1 ? page.entries.count == 1 : page.entries.count > 2)
        #expect(limitBytes == 1 || ServerMessage.history(page).json.count <= limitBytes)
        let oldest = await harness.history(
          ClientMessage.HistoryRequest(room: "general", after: 0, limit: 20),
          limitBytes: limitBytes)
        guard case .history(let page) = oldest else { throw NotAPage() }
        #expect(page.entries.first?.seq == 1)
        #expect(page.more)

        let frames = try #require(
          await harness.page("general", after: 4, through: 20, limitBytes: limitBytes)?.frames)
        #expect(frames.entries.first?.seq == 5)
        #expect(limitBytes == 1 ? frames.count == 1 : frames.count > 2)
        #expect(limitBytes == 1 || frames.bytes.count <= limitBytes)
      }
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a room without entries has an empty page if it may be created, and none otherwise`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      let request = ClientMessage.HistoryRequest(room: "dm:ada:bo")
      let empty = await harness.history(request, mayCreate: true)
      #expect(
        empty
          == .history(
            ServerMessage.HistoryPage(
              room: "dm:ada:bo", entries: [], first: 1, head: 0, more: false,
              epoch: harness.log.epoch)))
      guard case .error(let error) = await harness.history(request, mayCreate: false) else {
        throw NotAPage()
      }
      #expect(error.code == .noSuchRoom)
      #expect(error.re == .history)
      #expect(error.room == "dm:ada:bo")
    }
  }

  @Test(arguments: Conformer.allCases)
  func `data is returned byte for byte by every kind of read`(_ conformer: Conformer) async throws {
    try await conformer.run { harness in
      let data = "{ \"a\" : [1, 2.50,\r\n\t\"\\u00e9\\/ü\"] }"
      await harness.submit([.append("general", "ada", "a1", data: data)])
      let expected = Array("\"data\":\(data)".utf8)
      #expect(harness.entries().map(\.body) == [expected])
      let page = await harness.page("general", after: 0, through: 1)
      #expect(page?.frames.entries.map(\.body) == [expected])
      guard case .history(let history) = await harness.history(.init(room: "general")) else {
        throw NotAPage()
      }
      #expect(history.entries.map(\.body) == [expected])
      #expect(history.entries == harness.entries())
    }
  }

  @Test(arguments: Conformer.allCases)
  func `frames from storage are those of the commit`(_ conformer: Conformer) async throws {
    try await conformer.run { harness in
      await harness.submit((1...5).map { .append("general", "ada", "\"\\\($0)") })
      let commit = try #require(harness.deliveries().compactMap(\.commit).first)
      let page = try #require(await harness.page("general", after: 0, through: 5))
      #expect(page.firstSeq == 1)
      #expect(page.firstKept == 1)
      #expect(!page.failed)
      #expect(page.frames.bytes == commit.frames.bytes)
      #expect(page.frames.bounds == commit.frames.bounds)
      let part = try #require(await harness.page("general", after: 2, through: 4))
      #expect(part.firstSeq == 3)
      #expect(part.frames.entries.map(\.seq) == [3, 4])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `last entries are in the requested order, with nil for a room without one`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      await harness.submit([
        .append("a", "ada", "1"), .append("b", "ada", "2"), .append("b", "ada", "3"),
      ])
      let answer = await harness.read {
        .glimpses(
          $0, [(room: "b", seq: 2), (room: "nowhere", seq: 1), (room: "a", seq: 1)], by: .test)
      }
      guard case .glimpses(_, let glimpses) = answer else { throw NotAPage() }
      let entries = try glimpses.map { try $0.last.map { try Entry(decoding: $0.span) } }
      #expect(entries.map { $0?.id } == ["3", nil, "1"])
    }
  }
}
