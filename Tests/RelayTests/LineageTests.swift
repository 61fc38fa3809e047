import Mixing
import ShardWorld
import Testing
import Wire

@testable import Relay

/// A log of many epochs, in the store that its sequencers share.
private struct Log {
  var store = countingStore()
  var epochs: [Lineage.Epoch] = []
  var sequencer: Sequencer
  let keep: Int64
  var sent = 0

  init(keep: Int64 = 0, epoch: String = "e1") {
    self.keep = keep
    sequencer = Sequencer(
      lineage: Lineage([.init(number: 1, name: epoch)]), retention: .keeping(keep), loops: 1)
    start(epoch)
  }

  /// Begins an epoch, as each start does.
  mutating func start(_ name: String) {
    epochs.append(.init(number: Int64(epochs.count + 1), name: name))
    store.base.epoch = Int64(epochs.count)
    forgetRooms()
  }

  /// Reads the rooms from the store again.
  mutating func forgetRooms() {
    sequencer = Sequencer(lineage: Lineage(epochs), retention: .keeping(keep), loops: 1)
  }

  @discardableResult
  mutating func submit(_ requests: LogRequest...) -> Sequencer.Outcome {
    sequencer.process(
      [(0, requests)], store: &store, now: 1000, framing: SimulatedSocket.framing)
  }

  mutating func send(_ count: Int, to room: String = "r") {
    for _ in 0..<count {
      sent += 1
      submit(.append(room, "ada", "\(sent)"))
    }
  }

  mutating func join(
    _ room: String = "r", after: Int64? = nil, epoch: String? = nil, lineage: [EpochStart]? = nil
  ) throws -> ServerMessage.Joined {
    let request = LogRequest.Subscribe(
      session: SequencerHarness.session, room: room, user: "bo", after: after, epoch: epoch,
      lineage: lineage, mayCreate: true)
    return try #require(submit(.subscribe(request)).joined.first)
  }

  mutating func history(
    _ request: ClientMessage.HistoryRequest, mayCreate: Bool = false
  ) throws -> ServerMessage.HistoryPage {
    let answer = ReadRequest.history(
      SequencerHarness.session, request, by: .init(user: "ada", now: 0), mayCreate: mayCreate,
      limitBytes: 131_072
    ).answer(from: &store, sequencer.lineage, SimulatedSocket.framing)
    guard case .reply(_, let json) = answer,
      case .history(let page) = try ServerMessage(decoding: json.span)
    else { throw StoreFailure("no page") }
    return page
  }
}

/// Reads `epoch:after,…`.
private func starts(_ query: String) -> [EpochStart] { [EpochStart](query: query) ?? [] }

@Suite struct `The lineage of a room` {
  @Test func `lists the epochs of its entries, and the current one`() throws {
    var log = Log()
    #expect(try log.join().lineage.query == "e1:0")
    log.send(3)
    #expect(try log.join().lineage.query == "e1:0")
    log.start("e2")
    #expect(try log.join().lineage.query == "e2:3,e1:0")
    log.start("e3")
    log.send(2)
    #expect(try log.join().lineage.query == "e3:3,e1:0")
    log.start("e4")
    log.send(1)
    #expect(try log.join().lineage.query == "e4:5,e3:3,e1:0")
    #expect(try log.join("empty").lineage.query == "e4:0")
  }

  @Test func `does not change with the entries of the current epoch`() throws {
    var log = Log()
    log.send(3)
    log.start("e2")
    let before = try log.join().lineage
    log.send(5)
    #expect(try log.join().lineage == before)
  }

  @Test func `begins where entries are kept`() throws {
    var log = Log(keep: 10)
    for number in 1...4 {
      if number > 1 { log.start("e\(number)") }
      log.send(6)
      // The room is in memory while it is trimmed.
      _ = try log.join()
    }
    #expect(try log.join().first == 15)
    #expect(try log.join().lineage.query == "e4:18,e3:14")
    log.forgetRooms()
    #expect(try log.join().lineage.query == "e4:18,e3:14")
  }

  @Test func `has at most the newest sixteen epochs, for as many lookups, once`() throws {
    var log = Log()
    for number in 1...40 {
      if number > 1 { log.start("e\(number)") }
      log.send(2)
    }
    log.start("e41")
    let before = log.store.meter.total(.epochs)
    let joined = try log.join()
    #expect(joined.lineage.count == EpochStart.limit)
    #expect(joined.lineage.first == EpochStart(epoch: "e41", after: 80))
    #expect(joined.lineage.last == EpochStart(epoch: "e26", after: 50))
    #expect(log.store.meter.total(.epochs) - before == RoomEpochs.lookupLimit)
    for _ in 0..<256 { _ = try log.join() }
    #expect(log.store.meter.total(.epochs) - before == RoomEpochs.lookupLimit)
    // The end of an older epoch is one more.
    _ = try log.join(after: 3, epoch: "e2")
    #expect(log.store.meter.total(.epochs) - before == RoomEpochs.lookupLimit + 1)
  }

  @Test func `is told if the batch of the join could not be stored`() throws {
    var log = Log()
    log.send(3)
    log.start("e2")
    log.store.failsCommits = true
    #expect(try log.join().lineage.query == "e2:3,e1:0")
    log.store.failsCommits = false
    log.send(1)
    #expect(try log.join().lineage.query == "e2:3,e1:0")
  }

  @Test func `fits what is reserved for the answer to a join`() throws {
    let largest: Int64 = Entry.sequenceLimit
    let name = String(repeating: "x", count: 64)
    let joined = ServerMessage.Joined(
      room: String(repeating: "r", count: 140), epoch: "abcdefghijk", head: largest,
      first: largest, after: largest, resume: .truncated, read: largest, received: largest,
      members: Array(repeating: .init(user: name, read: largest, received: largest), count: 50),
      lineage: Array(
        repeating: EpochStart(epoch: "abcdefghijk", after: largest), count: EpochStart.limit),
      subscribers: 51)
    #expect(ServerMessage.joined(joined).json.count <= Shard.joinedBytes)
  }
}

@Suite struct `A client that names its epochs` {
  /// The log has e1 up to 5, e2 up to 8, nothing of e3, and e4, the current one, up to 10.
  @Test(arguments: [
    // The newest known epoch of the client counts.
    (10 as Int64, "e4:8,e2:5,e1:0", 1 as Int64, 10 as Int64, ServerMessage.Resume.ok),
    (11, "e4:8,e2:5,e1:0", 1, 10, .diverged), (7, "e2:5,e1:0", 1, 7, .ok),
    (9, "e2:5,e1:0", 1, 8, .diverged),
    // A backup from before its last start: its next epoch is unknown, and ends the common part.
    (9, "lost:7,e2:5,e1:0", 1, 7, .diverged), (7, "lost:7,e2:5,e1:0", 1, 7, .ok),
    (20, "lost:8,e2:5,e1:0", 1, 8, .diverged), (20, "lost:12,e2:5", 1, 8, .diverged),
    (20, "lost:12,gone:4,e1:0", 1, 4, .diverged), (3, "lost:12,gone:4,e1:0", 1, 3, .ok),
    (20, "lost:9,e3:8,e2:5", 1, 8, .diverged), (20, "lost:9,e4:8", 1, 9, .diverged),
    (20, "lost:0,e1:0", 1, 0, .diverged),
    // Nothing in common.
    (3, "lost:12,gone:4", 1, 0, .reset), (0, "lost:0", 1, 0, .reset), (3, ":0", 1, 0, .reset),
    // What is no longer kept.
    (7, "lost:7,e2:5,e1:0", 4, 7, .ok), (2, "lost:7,e2:5,e1:0", 4, 3, .truncated),
    (20, "lost:7,e2:5", 8, 7, .diverged), (20, "lost:7,e2:5", 9, 8, .reset),
    (6, "lost:7,e2:5", 9, 8, .truncated), (7, "lost:6,e2:5", 10, 9, .reset),
    (6, "lost:6,e2:5", 10, 9, .truncated), (4, "lost:3,e1:0", 10, 9, .reset),
    // In no order, and beyond everything: only the next newer epoch limits.
    (20, "x:1,lost:7,e2:9007199254740991", 1, 7, .diverged),
    (20, "lost:9007199254740991,e1:3", 1, 5, .diverged),
    (9_007_199_254_740_991, "e4:9007199254740991", 1, 10, .diverged),
    (10, "e4:0,e4:3,e4:9", 1, 10, .ok),
  ])
  func `resumes where its entries and those of the log still agree`(
    _ after: Int64, _ lineage: String, _ first: Int64, _ expected: Int64,
    _ resume: ServerMessage.Resume
  ) throws {
    var log = Log()
    log.send(5)
    log.start("e2")
    log.send(3)
    log.start("e3")
    log.start("e4")
    log.send(2)
    var changes = StoreChanges()
    changes.trims = [(1, first)]
    try log.store.commit(changes)
    log.forgetRooms()
    let joined = try log.join(after: after, lineage: starts(lineage))
    #expect(joined.after == expected)
    #expect(joined.resume == resume)
    let page = try log.history(.init(room: "r", after: after, lineage: starts(lineage)))
    #expect(page.after == expected)
    #expect(page.resume == resume)
    #expect(page.entries.map(\.seq) == Array((expected + 1)..<11))
    #expect(page.epoch == "e4")
  }

  @Test func `is asked for nothing but the lineage, unless that is empty`() throws {
    var log = Log()
    log.send(5)
    log.start("e2")
    log.send(5)
    #expect(try log.join(after: 9, epoch: "e1", lineage: starts("e2:5")).resume == .ok)
    #expect(try log.join(after: 9, epoch: "e2", lineage: starts("e1:0")).resume == .diverged)
    #expect(try log.join(after: 9, epoch: "e1", lineage: []).resume == .diverged)
    #expect(try log.join(after: 9, lineage: []).resume == .ok)
    // From the head on, nothing of it matters.
    #expect(try log.join(epoch: "lost", lineage: starts("lost:3")).resume == .ok)
  }

  @Test func `finds a room without entries like any other`() throws {
    var log = Log()
    log.start("e2")
    #expect(try log.join("new", after: 0, lineage: starts("e1:0")).resume == .ok)
    let joined = try log.join("new", after: 4, lineage: starts("e1:0"))
    #expect(joined.resume == .diverged)
    #expect(joined.after == 0)
  }
}

@Suite struct `History with an epoch` {
  @Test func `always has the current one, and tells where a client continues that names its own`()
    throws
  {
    var log = Log()
    log.send(5)
    log.start("e2")
    log.send(5)
    let plain = try log.history(.init(room: "r", after: 7))
    #expect(plain.epoch == "e2")
    #expect(plain.resume == nil)
    #expect(plain.after == nil)
    let diverged = try log.history(.init(room: "r", after: 7, limit: 2, epoch: "e1"))
    #expect(diverged.resume == .diverged)
    #expect(diverged.after == 5)
    #expect(diverged.entries.map(\.seq) == [6, 7])
    let reset = try log.history(.init(room: "r", after: 7, isFolded: true, epoch: "lost"))
    #expect(reset.resume == .reset)
    #expect(reset.after == 0)
    #expect(reset.entries.map(\.seq) == Array(1...10))
    let current = try log.history(.init(room: "r", after: 12, epoch: "e2"))
    #expect(current.resume == .diverged)
    #expect(current.after == 10)
    #expect(current.entries.isEmpty)
  }

  @Test func `is as without if there is no position`() throws {
    var log = Log()
    log.send(5)
    for before in [nil, 4 as Int64?] {
      let page = try log.history(
        .init(room: "r", before: before, epoch: "lost", lineage: starts("lost:3")))
      #expect(page.resume == nil)
      #expect(page.after == nil)
      #expect(page.entries.last?.seq == before.map { $0 - 1 } ?? 5)
    }
  }

  @Test func `of a room that does not exist tells a client to drop what it has`() throws {
    var log = Log()
    let known = try log.history(.init(room: "new", after: 3, epoch: "e1"), mayCreate: true)
    #expect(known.resume == .diverged)
    #expect(known.after == 0)
    let unknown = try log.history(.init(room: "new", after: 3, epoch: "lost"), mayCreate: true)
    #expect(unknown.resume == .reset)
    #expect(unknown.after == 0)
  }
}

/// Random logs with starts, backups and restores, and clients that join now and then: whatever
/// happens, a client drops exactly the entries that the log does not have.
@Suite struct `Lineages of random logs` {
  /// A log, and every entry that it ever had.
  private struct History {
    var log: Log
    /// The id of each entry, from 1 on.
    var ids: [String] = []
    /// The epoch of each entry.
    var epochs: [String] = []
  }
  /// What a client keeps of the room.
  private struct Reader {
    var entries: [Int64: String] = [:]
    var last: Int64 = 0
    var lineage: [EpochStart] = []
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func `a client drops exactly what the log has lost`(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let keep = seed % 3 == 0 ? Int64.random(in: 3...30, using: &random) : 0
    var life = 1
    var now = History(log: Log(keep: keep, epoch: "e1"))
    var backups = [now]
    var readers = Array(repeating: Reader(), count: 3)
    for _ in 0..<150 {
      switch Int.random(in: 0..<12, using: &random) {
      case 0..<5:
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          life += 1
          now.log.submit(.append("r", "ada", "\(life)"))
          now.ids.append("\(life)")
          now.epochs.append(now.log.sequencer.lineage.current.name)
        }
      case 5:
        life += 1
        now.log.start("e\(life)")
      case 6: backups.append(now)
      case 7 where Int.random(in: 0..<3, using: &random) == 0:
        now = backups.randomElement(using: &random) ?? now
        life += 1
        now.log.start("e\(life)")
      default:
        let index = Int.random(in: 0..<readers.count, using: &random)
        try sync(&readers[index], &now)
      }
    }
  }

  private func sync(_ reader: inout Reader, _ history: inout History) throws {
    let names = history.log.sequencer.lineage.epochs.map(\.name)
    let isNew = reader.lineage.isEmpty
    let joined = try history.log.join(
      after: reader.last, lineage: isNew ? nil : reader.lineage)
    let page = try history.log.history(
      .init(room: "r", after: reader.last, limit: 500, lineage: isNew ? nil : reader.lineage),
      mayCreate: true)
    #expect(isNew || page.after == joined.after && page.resume == joined.resume)
    #expect(joined.lineage == Self.lineage(history, joined))
    let (ids, epochs) = (history.ids, history.epochs)
    func isValid(_ entry: (key: Int64, value: String)) -> Bool {
      entry.key <= ids.count && ids[Int(entry.key) - 1] == entry.value
    }
    let common = reader.lineage.firstIndex { names.contains($0.epoch) }
    switch joined.resume {
    case .ok, .truncated:
      let end = common.flatMap { $0 > 0 ? reader.lineage[$0 - 1].after : nil } ?? .max
      // Where no entry of that epoch is kept, a client is believed whose last entry is not either.
      let isKnown =
        joined.first == 1
        || common.map { common in
          let through = names.firstIndex(of: reader.lineage[common].epoch) ?? 0
          return epochs.indices.contains {
            Int64($0 + 1) >= joined.first
              && (names.firstIndex(of: epochs[$0]) ?? .max) <= through
          }
        } ?? true
      if isKnown {
        #expect(reader.entries.allSatisfy(isValid))
      } else {
        reader.entries = [:]
      }
      #expect(reader.last <= end)
      #expect((joined.resume == .truncated) == (reader.last < joined.first - 1))
    case .diverged:
      #expect(reader.entries.filter { $0.key <= joined.after }.allSatisfy(isValid))
      #expect(!reader.entries.contains { $0.key > joined.after && isValid($0) })
      #expect(reader.last > joined.after)
    case .reset:
      let valid = reader.entries.filter(isValid).keys.max() ?? 0
      #expect(common == nil || valid < joined.first || joined.first > 1)
    }
    if joined.resume == .reset { reader.entries = [:] }
    reader.entries = reader.entries.filter { $0.key <= joined.after }
    for seq in (joined.after + 1)..<(joined.head + 1) {
      reader.entries[seq] = ids[Int(seq) - 1]
    }
    reader.last = joined.head
    reader.lineage = joined.lineage
  }

  /// The same by looking at every entry.
  private static func lineage(_ history: History, _ joined: ServerMessage.Joined) -> [EpochStart] {
    var starts = [EpochStart(epoch: joined.epoch, after: joined.head)]
    for seq in stride(from: joined.head, through: joined.first, by: -1) {
      let epoch = history.epochs[Int(seq) - 1]
      if starts[starts.count - 1].epoch != epoch {
        starts.append(EpochStart(epoch: epoch, after: seq))
      }
      starts[starts.count - 1].after = seq - 1
    }
    return Array(starts.prefix(EpochStart.limit))
  }
}
