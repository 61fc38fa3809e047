import Relay
import Testing
import Wire

@Suite struct `An id that was sent before` {
  private typealias Send = ClientMessage.Send

  @Test(arguments: Conformer.allCases)
  func `is acknowledged with the first entry if the content is the same, and refused otherwise`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      let first = await harness.submit([
        .append("general", "ada", "a1", text: "one"), .append("general", "ada", "a1", text: "one"),
        .append("general", "ada", "a1", text: "two"), .append("general", "ada", "a2"),
      ])
      #expect(first.acks.map(\.seq) == [1, 1, 2])
      #expect(first.acks.map(\.duplicate) == [false, true, false])
      #expect(first.refusals.map(\.seq) == [1])
      for id in 1...3 { await harness.submit([.append("other", "ada", "\(id)")]) }
      let second = await harness.submit([
        .append("general", "ada", "a1", text: "three"),
        .append("general", "ada", "a1", text: "one"),
      ])
      #expect(second.acks.map(\.seq) == [1])
      #expect(second.acks.map(\.duplicate) == [true])
      #expect(second.acks.map(\.at) == [first.acks[0].at])
      for error in first.refusals + second.refusals {
        #expect(error.code == .idConflict)
        #expect(error.re == .send)
        #expect(error.room == "general")
        #expect(error.id == "a1")
        #expect(error.seq == 1)
        #expect(error.retryAfterMilliseconds == nil)
      }
      #expect(second.refusals.count == 1)
      #expect(harness.entries().prefix(2).map(\.text) == ["one", "hi"])
    }
  }

  /// A room of which entries 1 to 3 are texts, and 4 is data.
  private static func fill(_ harness: LogHarness) async {
    await harness.submit([
      .append("r", "ada", "1", text: "one"), .append("r", "ada", "2", text: "two"),
      .append("r", "ada", "3", text: "three"), .append("r", "ada", "4", data: "[1]"),
    ])
  }

  private static func data(_ json: String) -> Send {
    Send(room: "r", id: "x", kind: .data, body: Array("\"data\":\(json)".utf8))
  }

  /// A send, and others with its id that differ from it.
  private static let contents: [(Send, others: [Send])] = [
    (
      Send(room: "r", id: "x", text: "caf\u{E9}"),
      [
        Send(room: "r", id: "x", text: "cafe\u{301}"),
        Send(room: "r", id: "x", text: "caf\u{E9}", replyTo: 1), data("\"caf\u{E9}\""),
        Send(room: "r", id: "x", edit: 1, text: "caf\u{E9}"),
        Send(room: "r", id: "x", forward: Forward(room: "r", seq: 1)),
      ]
    ),
    (
      Send(room: "r", id: "x", text: "yes", replyTo: 1),
      [
        Send(room: "r", id: "x", text: "yes"), Send(room: "r", id: "x", text: "yes", replyTo: 2),
        Send(room: "r", id: "x", text: "yes", replyTo: 99),
      ]
    ),
    (data("{\"a\":1.0}"), [data("{\"a\":1.00}"), data("{\"a\": 1.0}"), data("null")]),
    (
      Send(room: "r", id: "x", edit: 1, text: "One"),
      [
        Send(room: "r", id: "x", edit: 1, text: "ONE"),
        Send(room: "r", id: "x", edit: 2, text: "One"),
        Send(room: "r", id: "x", edit: 99, text: "One"),
      ]
    ),
    (
      Send(room: "r", id: "x", delete: 4),
      [Send(room: "r", id: "x", delete: 1), Send(room: "r", id: "x", delete: 99)]
    ),
    (
      Send(room: "r", id: "x", react: 1, emoji: "👍", isOn: true),
      [
        Send(room: "r", id: "x", react: 1, emoji: "👍", isOn: false),
        Send(room: "r", id: "x", react: 1, emoji: "🎉", isOn: true),
        Send(room: "r", id: "x", react: 2, emoji: "👍", isOn: true),
      ]
    ),
    (
      Send(room: "r", id: "x", forward: Forward(room: "r", seq: 1)),
      [
        Send(room: "r", id: "x", forward: Forward(room: "r", seq: 2)),
        Send(room: "r", id: "x", forward: Forward(room: "s", seq: 1)),
        Send(room: "r", id: "x", text: "one"),
      ]
    ),
  ]

  @Test(arguments: Conformer.allCases)
  func `is compared by kind and all fields as they were sent`(_ conformer: Conformer) async throws {
    for (send, others) in Self.contents {
      try await conformer.run { harness in
        await Self.fill(harness)
        #expect(await harness.submit([.append(send, from: "ada")]).acks.map(\.seq) == [5])
        // The content of a forward was copied when it was created.
        await harness.submit([
          .append(Send(room: "r", id: "5", edit: 1, text: "changed"), from: "ada")
        ])
        let same = await harness.submit([.append(send, from: "ada")])
        #expect(same.acks.map(\.duplicate) == [true], "\(send)")
        for other in others {
          let refusals = await harness.submit([.append(other, from: "ada")]).refusals
          #expect(refusals.map(\.code) == [.idConflict], "\(send), then \(other)")
          #expect(refusals.map(\.seq) == [5])
        }
        #expect(await harness.submit([.append("r", "ada", "6")]).acks.map(\.seq) == [7])
      }
    }
  }

  @Test(arguments: Conformer.allCases)
  func `is acknowledged with any content once the entry is redacted`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      await Self.fill(harness)
      await harness.submit([
        .append(Send(room: "r", id: "5", edit: 1, text: "ONE"), from: "ada"),
        .append(Send(room: "r", id: "6", forward: Forward(room: "r", seq: 2)), from: "ada"),
      ])
      func others() -> [LogRequest] {
        ["1", "4", "5", "6"].map { .append("r", "ada", $0, text: "other") }
      }
      let before = await harness.submit(others())
      #expect(before.refusals.map(\.seq) == [1, 4, 5, 6])
      let deletions = [1, 4, 6].map { target -> LogRequest in
        .append(Send(room: "r", id: "d\(target)", delete: target), from: "ada")
      }
      // In the batch of the deletion, and later.
      let delivery = await harness.submit(deletions + others())
      #expect(delivery.acks.map(\.seq) == [7, 8, 9, 1, 4, 5, 6])
      #expect(await harness.submit(others()).acks.map(\.seq) == [1, 4, 5, 6])
      // A deletion is not redacted, and its target need not exist any more.
      let again = await harness.submit(deletions)
      #expect(again.acks.map(\.seq) == [7, 8, 9])
      let other = await harness.submit([
        .append(Send(room: "r", id: "d1", delete: 2), from: "ada")
      ])
      #expect(other.refusals.map(\.seq) == [7])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `is free once the entry is no longer kept`(_ conformer: Conformer) async throws {
    try await conformer.run(keepEntriesPerRoom: 10) { harness in
      for id in 1...30 { await harness.submit([.append("r", "ada", "\(id)", text: "first")]) }
      let delivery = await harness.submit([
        .append("r", "ada", "1", text: "second"), .append("r", "ada", "30", text: "second"),
      ])
      #expect(delivery.acks.map(\.seq) == [31])
      #expect(delivery.refusals.map(\.seq) == [30])
    }
  }
}
