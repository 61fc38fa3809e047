import Relay
import Testing
import Wire

@Suite struct `The contract of a log` {
  @Test(arguments: Conformer.allCases)
  func `entries are numbered without gaps in each room, in the order of sending`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      var acks: [ServerMessage.Ack] = []
      for batch in 0..<4 {
        let requests = (0..<10).map {
          LogRequest.append($0 % 2 == 0 ? "even" : "odd", "ada", "\(batch)-\($0)", text: "\($0)")
        }
        acks += await harness.submit(requests).acks
      }
      for room in ["even", "odd"] {
        let entries = harness.entries().filter { $0.room == room }
        #expect(entries.map(\.seq) == Array(1...20))
        #expect(acks.filter { $0.room == room }.map(\.seq) == Array(1...20))
        #expect(acks.filter { $0.room == room }.map(\.id) == entries.map(\.id))
        #expect(zip(entries, entries.dropFirst()).allSatisfy { $0.at <= $1.at })
      }
      #expect(acks.allSatisfy { !$0.duplicate })
    }
  }

  @Test(arguments: Conformer.allCases)
  func `every submit is answered by one delivery, even if that is empty`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      for _ in 0..<3 { await harness.submit([]) }
      await harness.submit([
        .unsubscribe(room: "nowhere", user: "ada"), .forget(room: "x", user: "ada"),
      ])
      #expect(harness.deliveries().filter(\.completesSubmit).count == 4)
      #expect(harness.deliveries().flatMap(\.answers).isEmpty)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a commit is the same object for every loop, and answers go to their own loop`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run(loops: 3) { harness in
      await harness.submit([.append("general", "ada", "a1")], from: 1)
      // The batch of loop 1 is published to the others before their own next answer.
      await harness.submit([], from: 0)
      await harness.submit([], from: 2)
      let commits = (0..<3).map { harness.deliveries(to: $0).compactMap(\.commit) }
      #expect(commits.allSatisfy { $0.count == 1 })
      #expect(commits[0].first === commits[1].first)
      #expect(commits[1].first === commits[2].first)
      #expect((0..<3).map { harness.deliveries(to: $0).flatMap(\.acks).count } == [0, 1, 0])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `an id belongs to a room and a sender`(_ conformer: Conformer) async throws {
    try await conformer.run { harness in
      let delivery = await harness.submit([
        .append("general", "ada", "a1"), .append("general", "bo", "a1"),
        .append("other", "ada", "a1"),
      ])
      #expect(delivery.acks.map(\.seq) == [1, 2, 1])
      #expect(delivery.acks.allSatisfy { !$0.duplicate })
    }
  }

  @Test(arguments: Conformer.allCases)
  func `all loops see the same order`(_ conformer: Conformer) async throws {
    try await conformer.run(loops: 3) { harness in
      await withTaskGroup { group in
        for loop in 0..<3 {
          group.addTask {
            for batch in 0..<40 {
              await harness.submit(
                (0..<5).map { .append("room-\($0)", "user-\(loop)", "\(batch)") }, from: loop)
            }
          }
        }
      }
      for loop in 0..<3 { await harness.submit([], from: loop) }
      let orders = (0..<3).map { harness.deliveries(to: $0).compactMap(\.commit) }
      let identities = orders.map { $0.map { ObjectIdentifier($0) } }
      #expect(identities[0] == identities[1])
      #expect(identities[0] == identities[2])
      for room in 0..<5 {
        let entries = harness.entries().filter { $0.room == "room-\(room)" }
        #expect(entries.map(\.seq) == Array(1...120))
        for loop in 0..<3 {
          let own = entries.filter { $0.from == "user-\(loop)" }
          #expect(own.map(\.id) == (0..<40).map(String.init))
        }
      }
    }
  }

  @Test(arguments: Conformer.allCases)
  func `ten thousand joins race with commits, and none misses an entry`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run(loops: 3) { harness in
      await withTaskGroup { group in
        for loop in 1..<3 {
          group.addTask {
            for batch in 0..<200 {
              await harness.submit(
                [.append("busy", "user-\(loop)", "\(batch)")], from: loop)
            }
          }
        }
        group.addTask {
          for batch in 0..<200 {
            await harness.submit(
              (0..<50).map {
                .subscribe(
                  "busy", "reader-\($0 % 40)",
                  session: SessionID(index: Int32($0), generation: UInt32(batch)))
              })
          }
        }
      }
      await harness.submit([])
      // Like a loop: commits as they come, answers after the commit of their delivery.
      var seen: Int64 = 0
      var joins = 0
      var entriesSoFar: [Entry] = []
      for delivery in harness.deliveries() {
        for entry in delivery.commit?.entries ?? [] {
          #expect(entry.seq == seen + 1)
          seen = entry.seq
          entriesSoFar.append(entry)
        }
        for case .subscribed(_, let subscribed) in delivery.answers {
          joins += 1
          let ahead = Int64(delivery.commit?.entries.count ?? 0)
          // All entries up to its head are published; later ones are in this delivery or follow it.
          #expect(subscribed.joined.head <= seen)
          #expect(subscribed.joined.head >= seen - ahead)
        }
      }
      #expect(joins == 10_000)
      #expect(seen == 400)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `rooms that must not be created are refused by name`(_ conformer: Conformer) async throws {
    try await conformer.run { harness in
      let delivery = await harness.submit([
        .append("secret", "ada", "a1", mayCreate: false),
        .subscribe("secret", "ada", mayCreate: false),
      ])
      #expect(delivery.refusals.map(\.code) == [.noSuchRoom, .noSuchRoom])
      #expect(delivery.refusals.map(\.re) == [.send, .join])
      #expect(delivery.refusals.map(\.room) == ["secret", "secret"])
      #expect(delivery.refusals.map(\.id) == ["a1", nil])
      #expect(harness.entries().isEmpty)
      await harness.submit([.append("secret", "ada", "a1")])
      #expect(
        await harness.submit([.append("secret", "bo", "b1", mayCreate: false)]).acks.map(\.seq) == [
          2
        ])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `typing is passed on to every loop`(_ conformer: Conformer) async throws {
    try await conformer.run(loops: 2) { harness in
      await harness.submit([.typing(room: "general", user: "ada", on: true)])
      await harness.submit([], from: 1)
      for loop in 0..<2 {
        let typing = harness.deliveries(to: loop).flatMap { $0.commit?.typing ?? [] }
        #expect(typing.map(\.user) == ["ada"])
      }
    }
  }

  @Test(arguments: Conformer.allCases)
  func `only as many entries as configured are kept, and the head stays`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run(retention: .keeping(10)) { harness in
      for id in 1...35 { await harness.submit([.append("general", "ada", "\(id)")]) }
      // A batch trims a room that has a tenth too many.
      let spans = { harness.deliveries().compactMap { $0.commit?.spans.first } }
      #expect(spans().count == 35)
      #expect(zip(1..., spans()).allSatisfy { (0...10).contains($0 - $1.firstKept) })
      // The others go in the background.
      try await harness.becomesFirst(26, of: "general")
      let joined = try #require(await harness.subscribe("general", as: "bo", after: 0))
      #expect(joined.head == 35)
      #expect(joined.first == 26)
      #expect(joined.resume == .truncated)
      #expect(joined.after == 25)
      let page = try #require(await harness.page("general", after: 3, through: 35))
      #expect(page.firstSeq == 26)
      #expect(page.firstKept == 26)
      #expect(page.frames.entries.map(\.seq) == Array(26...35))
      // An id is known as long as its entry is kept.
      let acks = await harness.submit([
        .append("general", "ada", "35"), .append("general", "ada", "1"),
      ]).acks
      #expect(acks.map(\.seq) == [35, 36])
      #expect(spans().last?.firstKept == 26)
    }
  }
}
