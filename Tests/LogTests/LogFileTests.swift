import Relay
import Testing
import Wire

/// Files and the entries that name them, in every log.
@Suite struct `Files in a log` {
  private typealias Send = ClientMessage.Send

  /// An id of 22 characters, and a hash of 64 digits.
  private static func id(_ name: Character) -> String { String(repeating: name, count: 22) }
  private static func hash(_ digit: Character) -> String { String(repeating: digit, count: 64) }

  private static func stored(
    _ name: Character = "f", by owner: String = "ada", hash digit: Character = "a",
    size: Int64 = 10_000, thumbnail: Character? = nil, at: Int64 = 1_000
  ) -> StoredFile {
    StoredFile(
      id: id(name), owner: owner, hash: hash(digit), thumbnail: thumbnail.map(hash),
      description: FileDescription(
        size: size, mediaType: "image/webp", width: 40, height: 30,
        thumbnail: thumbnail.map { _ in .init(width: 4, height: 3, placeholder: "1QcSHQRn") }),
      uploadedAt: at)
  }

  private static func send(
    _ id: String, _ name: Character = "f", to room: String = "r", caption: String? = nil,
    replyTo: Int64? = nil
  ) -> Send {
    Send(
      room: room, id: id,
      file: FileContent(
        id: Self.id(name), name: "a.png", caption: caption, replyTo: replyTo))
  }

  private static func change(
    _ change: FileChange, _ harness: LogHarness
  ) async -> FileAnswer? {
    let delivery = await harness.submit([.file(change, .upkeep)])
    for case .file(.upkeep, let answer) in delivery.answers { return answer }
    return nil
  }

  private static func ask(_ question: FileQuestion, _ harness: LogHarness) async -> FileAnswer? {
    guard case .file(_, let answer) = await harness.read({ _ in .file(question, .upkeep) }) else {
      return nil
    }
    return answer
  }

  private static func mayRead(
    _ harness: LogHarness, _ user: String, _ name: Character = "f", isOperator: Bool = false,
    rights: Rights = .all
  ) async -> Bool {
    let asker = ReadRequest.Asker(user: user, isOperator: isOperator, now: 2_000)
    return await ask(.readable(id(name), by: asker, rights), harness) != .file(nil)
  }

  @Test(arguments: Conformer.allCases)
  func `the first file of an upload counts, and one with other bytes is refused`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      let first = Self.stored(hash: "a")
      #expect(await Self.change(.add(first), harness) == .done)
      // Another relay has stored the same bytes in the bucket.
      var same = first
      same.hash += "-2"
      #expect(await Self.change(.add(same), harness) == .done)
      guard
        case .refused(let error) = await Self.change(.add(Self.stored(hash: "b")), harness)
      else {
        Issue.record("another file takes its place")
        return
      }
      #expect(error.code == .idConflict)
      #expect(await Self.ask(.uploaded(first.id, by: "ada"), harness) == .file(first))
    }
  }

  @Test(arguments: Conformer.allCases)
  func `an entry shows what the relay knows of the file that its sender has uploaded`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      let refused = await harness.submit([.append(Self.send("1"), from: "ada")]).refusals
      #expect(refused.first?.code == .noSuchEntry && refused.first?.field == "file")
      let file = Self.stored(thumbnail: "b")
      #expect(await Self.change(.add(file), harness) == .done)
      // The answer was lost.
      #expect(await Self.change(.add(file), harness) == .done)
      #expect(await !Self.mayRead(harness, "ada"), "nothing shows it yet")
      #expect(await Self.ask(.uploaded(file.id, by: "ada"), harness) == .file(file))
      #expect(await Self.ask(.uploaded(file.id, by: "bo"), harness) == .file(nil))
      let others = await harness.submit([.append(Self.send("1"), from: "bo")]).refusals
      #expect(others.first?.code == .noSuchEntry, "only its owner may send it")
      let send = Self.send("1", caption: "look")
      let delivery = await harness.submit([.append(send, from: "ada")])
      let entry = try #require(delivery.commit?.entries.first)
      #expect(entry.kind == .file && entry.text == "look")
      #expect(entry.file?.description == file.description)
      #expect(await Self.mayRead(harness, "bo"))
      // The same send again is the same entry; one with another caption is not.
      #expect(await harness.submit([.append(send, from: "ada")]).acks.first?.duplicate == true)
      let other = await harness.submit([.append(Self.send("1"), from: "ada")])
      #expect(other.refusals.first?.code == .idConflict)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a file is shown by whoever may read it, and goes with the last entry`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      _ = await Self.change(.add(Self.stored(thumbnail: "b")), harness)
      _ = await harness.submit([.append(Self.send("1"), from: "ada")])
      #expect(await harness.submit([.append(Self.send("2", to: "s"), from: "bo")]).refusals == [])
      #expect(await Self.ask(.size(of: "ada"), harness) == .size(10_000))
      #expect(await Self.ask(.size(of: "bo"), harness) == .size(10_000))
      _ = await harness.submit([.append(Send(room: "r", id: "3", delete: 1), from: "ada")])
      #expect(await Self.mayRead(harness, "cy"))
      #expect(await Self.ask(.size(of: "ada"), harness) == .size(0))
      #expect(await Self.ask(.unused, harness) == .hashes([]))
      _ = await harness.submit([.append(Send(room: "s", id: "4", delete: 1), from: "bo")])
      #expect(await !Self.mayRead(harness, "cy"))
      #expect(await Self.ask(.unused, harness) == .hashes([Self.hash("a"), Self.hash("b")]))
      let again = await harness.submit([.append(Self.send("5"), from: "ada")]).refusals
      #expect(again.first?.code == .noSuchEntry)
      let bytes = [Self.hash("a"), Self.hash("b")]
      #expect(await Self.change(.removed(bytes), harness) == .done)
      #expect(await Self.ask(.unused, harness) == .hashes([]))
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a deletion leaves nothing of a file entry, and an edit changes its caption`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      _ = await Self.change(.add(Self.stored()), harness)
      _ = await harness.submit([.append(Self.send("1", caption: "one"), from: "ada")])
      _ = await harness.submit([
        .append(Send(room: "r", id: "2", edit: 1, text: "two"), from: "ada"),
        .append(Send(room: "r", id: "3", react: 1, emoji: "👍", isOn: true), from: "bo"),
      ])
      func folded() async -> Entry? {
        let request = ClientMessage.HistoryRequest(room: "r", isFolded: true)
        guard case .history(let page)? = await harness.history(request) else { return nil }
        return page.entries.first
      }
      var entry = try #require(await folded())
      #expect(entry.text == "two" && entry.file?.description?.size == 10_000)
      #expect(entry.editedAt != nil && entry.reactions.first?.users == ["bo"])
      _ = await harness.submit([.append(Send(room: "r", id: "4", delete: 1), from: "ada")])
      entry = try #require(await folded())
      #expect(entry.body == Array(#""deleted":true"#.utf8))
      #expect(entry.isDeleted && entry.file == nil)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `files with the same bytes share them`(_ conformer: Conformer) async throws {
    try await conformer.run { harness in
      _ = await Self.change(.add(Self.stored("f")), harness)
      _ = await Self.change(.add(Self.stored("g", by: "bo")), harness)
      _ = await harness.submit([
        .append(Self.send("1", "f"), from: "ada"), .append(Self.send("2", "g"), from: "bo"),
      ])
      _ = await harness.submit([.append(Send(room: "r", id: "3", delete: 1), from: "ada")])
      #expect(await Self.ask(.unused, harness) == .hashes([]))
      #expect(
        await Self.ask(.used(among: [Self.hash("a"), Self.hash("c")]), harness)
          == .hashes([Self.hash("a")]))
      _ = await harness.submit([.append(Send(room: "r", id: "4", delete: 2), from: "bo")])
      #expect(await Self.ask(.unused, harness) == .hashes([Self.hash("a")]))
      // They are uploaded once more before they were removed.
      _ = await Self.change(.add(Self.stored("h")), harness)
      #expect(await Self.ask(.unused, harness) == .hashes([]))
    }
  }

  @Test(arguments: Conformer.allCases)
  func `files that are not sent are forgotten, and those that are stay`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      _ = await Self.change(.add(Self.stored("f", at: 10)), harness)
      _ = await Self.change(.add(Self.stored("g", hash: "b", at: 10)), harness)
      _ = await Self.change(.add(Self.stored("h", hash: "c", at: 20)), harness)
      _ = await harness.submit([.append(Self.send("1", "f"), from: "ada")])
      #expect(await Self.ask(.size(of: "ada"), harness) == .size(30_000))
      #expect(await Self.change(.expire(before: 20), harness) == .expired(1))
      #expect(await Self.ask(.size(of: "ada"), harness) == .size(20_000))
      #expect(await Self.ask(.unused, harness) == .hashes([Self.hash("b")]))
      // One that is sent in the batch that looks for old ones stays.
      _ = await harness.submit([
        .file(.expire(before: 30), .upkeep), .append(Self.send("2", "h"), from: "ada"),
      ])
      #expect(await Self.mayRead(harness, "bo", "h"))
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a user removes a file that was not sent, and no other one`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      _ = await Self.change(.add(Self.stored("f", thumbnail: "b")), harness)
      _ = await Self.change(.add(Self.stored("g", hash: "c")), harness)
      _ = await harness.submit([.append(Self.send("1", "g"), from: "ada")])
      let id = Self.id("f")
      #expect(await Self.change(.remove(id, by: "bo"), harness) == .file(nil))
      guard
        case .refused(let error)? = await Self.change(
          .remove(Self.id("g"), by: "ada"), harness)
      else {
        Issue.record("it was sent")
        return
      }
      #expect(error.code == .idConflict)
      // Of the requests of one batch, the first counts.
      let delivery = await harness.submit([
        .file(.remove(id, by: "ada"), .upkeep), .file(.remove(id, by: "ada"), .upkeep),
        .append(Self.send("2", "f"), from: "ada"),
      ])
      let answers = delivery.answers.compactMap { answer in
        if case .file(_, let answer) = answer { answer } else { nil }
      }
      #expect(answers.contains(.done) && answers.contains(.file(nil)) && answers.count == 2)
      #expect(delivery.refusals.first?.code == .noSuchEntry)
      #expect(await Self.ask(.size(of: "ada"), harness) == .size(10_000))
      #expect(await Self.ask(.unused, harness) == .hashes([Self.hash("a"), Self.hash("b")]))
      _ = await Self.change(.add(Self.stored("h", hash: "d")), harness)
      let sent = await harness.submit([
        .append(Self.send("3", "h"), from: "ada"), .file(.remove(Self.id("h"), by: "ada"), .upkeep),
      ])
      #expect(sent.refusals == [])
      #expect(await Self.mayRead(harness, "bo", "h"))
    }
  }

  @Test(arguments: Conformer.allCases)
  func `each user's files have a limit, which sends and uploads count towards`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run(limits: EntryLimits(fileBytesPerUser: 25_000)) { harness in
      _ = await Self.change(.add(Self.stored("f")), harness)
      _ = await Self.change(.add(Self.stored("g", hash: "b")), harness)
      guard case .refused(let error)? = await Self.change(.add(Self.stored("h")), harness) else {
        Issue.record("a third one does not fit")
        return
      }
      #expect(error.code == .limitReached && error.field == "files_bytes_per_user")
      // What was uploaded counts once until it is sent; each further entry counts, also of one batch.
      let sends = (1...3).map { LogRequest.append(Self.send("\($0)", "f"), from: "ada") }
      #expect(await harness.submit(sends).refusals.map(\.id) == ["2", "3"])
      #expect(await harness.submit([.append(Self.send("4", "g"), from: "ada")]).refusals == [])
      #expect(await Self.ask(.size(of: "ada"), harness) == .size(20_000))
      let twice = (5...8).map { LogRequest.append(Self.send("\($0)", "f"), from: "bo") }
      #expect(await harness.submit(twice).refusals.map(\.id) == ["7", "8"])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a tiny file counts as what a disk takes for it, for each entry that names it`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run(limits: EntryLimits(fileBytesPerUser: 10_000)) { harness in
      _ = await Self.change(.add(Self.stored("f", size: 0)), harness)
      #expect(await Self.ask(.size(of: "ada"), harness) == .size(4096))
      _ = await Self.change(.add(Self.stored("g", size: 1)), harness)
      guard case .refused(let error)? = await Self.change(.add(Self.stored("h", size: 1)), harness)
      else {
        Issue.record("a third one does not fit")
        return
      }
      #expect(error.field == "files_bytes_per_user")
      let sends = (1...3).map { LogRequest.append(Self.send("\($0)", "g"), from: "bo") }
      _ = await harness.submit([.append(Self.send("0", "g"), from: "ada")])
      #expect(await harness.submit(sends).refusals.map(\.id) == ["3"])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `of files that are not sent some are forgotten at once, and the others next`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      let files = (0...FileChange.expiredAtOnce).map { number in
        var file = Self.stored()
        file.id = String(file.id.dropLast(4)) + "\(1000 + number)"
        return LogRequest.file(.add(file), .upkeep)
      }
      _ = await harness.submit(files)
      let change = FileChange.expire(before: 2_000)
      #expect(await Self.change(change, harness) == .expired(FileChange.expiredAtOnce))
      #expect(await Self.change(change, harness) == .expired(1))
      #expect(await Self.change(change, harness) == .expired(0))
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a file is found as fast if thousands of entries name it`(
    _ conformer: Conformer
  ) async throws {
    // The log in memory is for tests, and looks at all.
    if conformer == .memory { return }
    try await conformer.run { harness in
      _ = await Self.change(.add(Self.stored("f")), harness)
      _ = await Self.change(.add(Self.stored("g", hash: "b")), harness)
      _ = await harness.submit([.append(Self.send("g", "g"), from: "ada")])
      for batch in 0..<20 {
        let sends = (0..<1000).map {
          LogRequest.append(Self.send("\(batch * 1000 + $0)"), from: "ada")
        }
        #expect(await harness.submit(sends).refusals == [])
      }
      // In turn, as often as it takes on a busy machine.
      var (many, one) = (Duration.seconds(60), Duration.seconds(60))
      for _ in 0..<1000 where many >= one * 10 || one == .seconds(60) {
        let clock = ContinuousClock()
        many = min(many, await clock.measure { _ = await Self.mayRead(harness, "bo", "f") })
        one = min(one, await clock.measure { _ = await Self.mayRead(harness, "bo", "g") })
      }
      // It was a hundred times as long when each entry was looked at.
      #expect(many < one * 10)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a file of a private room is no file for others, and none for who was removed`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      var settings = RoomSettings.Change()
      settings.access = .private
      _ = await Self.change(.add(Self.stored()), harness)
      _ = await harness.submit([
        .append(Send(room: "r", id: "0", settings: settings), from: "ada"),
        .append(Self.send("1"), from: "ada"),
      ])
      #expect(await Self.mayRead(harness, "ada"))
      #expect(await Self.mayRead(harness, "root", isOperator: true))
      #expect(await !Self.mayRead(harness, "ada", rights: Rights(join: ["x"])))
      #expect(await !Self.mayRead(harness, "bo"))
      let others = await harness.submit([.append(Self.send("2", to: "s"), from: "bo")]).refusals
      #expect(others.first?.code == .noSuchEntry)
      _ = await harness.submit([
        .append(
          Send(room: "r", id: "3", member: .init(user: "bo", role: .member)), from: "ada")
      ])
      #expect(await Self.mayRead(harness, "bo"))
      _ = await harness.submit([
        .append(Send(room: "r", id: "4", member: .init(user: "bo", role: .none)), from: "ada")
      ])
      #expect(await !Self.mayRead(harness, "bo"))
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a reader is let in by the first rooms that show a file, up to a limit`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run { harness in
      _ = await Self.change(.add(Self.stored()), harness)
      let sends = (0...FilePlace.limit).map {
        LogRequest.append(Self.send("\($0)", to: "r\($0)"), from: "ada")
      }
      #expect(await harness.submit(sends).refusals == [])
      // The last entry of each room counts.
      _ = await harness.submit([.append(Self.send("again", to: "r0"), from: "ada")])
      #expect(await Self.mayRead(harness, "bo", rights: Rights(join: ["r0"])))
      let last = FilePlace.limit - 1
      #expect(await Self.mayRead(harness, "bo", rights: Rights(join: ["r\(last)"])))
      #expect(await !Self.mayRead(harness, "bo", rights: Rights(join: ["r\(last + 1)"])))
    }
  }

  @Test(arguments: Conformer.allCases)
  func `retention and erasure take files along`(_ conformer: Conformer) async throws {
    try await conformer.run(keepEntriesPerRoom: 10) { harness in
      _ = await Self.change(.add(Self.stored("f")), harness)
      _ = await Self.change(.add(Self.stored("g", hash: "b")), harness)
      _ = await Self.change(.add(Self.stored("h", hash: "c")), harness)
      _ = await harness.submit([
        .append(Self.send("1", "f"), from: "ada"),
        .append(Self.send("1", "g", to: "s"), from: "ada"),
      ])
      for number in 2...13 {
        _ = await harness.submit([.append("r", "bo", "\(number)")])
      }
      #expect(await Self.ask(.unused, harness) == .hashes([Self.hash("a")]))
      let origin = LogRequest.Origin(session: .test, re: .erase, ref: nil)
      let order = LogRequest.Order(by: "root", origin: origin)
      _ = await harness.submit([
        .erase(.init(user: "ada", room: "s", seq: 1), order),
        .erase(.init(user: "ada", room: "s"), order), .erase(.init(user: "ada"), order),
      ])
      let unused = Set("abc".map(Self.hash))
      guard case .hashes(let hashes)? = await Self.ask(.unused, harness) else { return }
      #expect(Set(hashes) == unused, "also of what was uploaded and not sent")
      #expect(await Self.ask(.size(of: "ada"), harness) == .size(0))
    }
  }
}
