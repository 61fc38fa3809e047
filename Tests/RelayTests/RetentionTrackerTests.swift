import Mixing
import Testing

@testable import Relay

@Suite struct `Finding what is no longer kept` {
  /// A store as retention sees it, which counts what is read.
  private struct Source: RetentionSource {
    var rooms: [String] = []
    var entries: [Int64: [RetainedEntry]] = [:]
    var first: [Int64: Int64] = [:]
    var reads = 0
    var newest: Int64?
    var isBroken = false

    mutating func add(_ room: String, _ sizes: [(at: Int64, bytes: Int64)]) {
      if !rooms.contains(room) { rooms.append(room) }
      let number = Int64(rooms.count)
      let head = entries[number]?.last?.seq ?? 0
      entries[number, default: []] += sizes.enumerated().map {
        RetainedEntry(seq: head + Int64($0.offset) + 1, at: $0.element.at, bytes: $0.element.bytes)
      }
    }

    mutating func newestEntryAt() throws(StoreFailure) -> Int64? { newest }

    mutating func retainedRooms(
      after number: Int64, limit: Int
    ) throws(StoreFailure) -> [RetainedRoom] {
      rooms.enumerated().map { (Int64($0.offset + 1), $0.element) }.filter { $0.0 > number }
        .prefix(limit).map { number, name in
          let first = first[number] ?? 1
          return RetainedRoom(
            number: number, name: name, first: first,
            head: max(entries[number]?.last?.seq ?? 0, first - 1))
        }
    }

    mutating func retainedEntries(
      ofRoom number: Int64, in seqs: ClosedRange<Int64>
    ) throws(StoreFailure) -> [RetainedEntry] {
      if isBroken { throw StoreFailure("it is broken") }
      reads += seqs.count
      return entries[number]?.filter { seqs.contains($0.seq) } ?? []
    }
  }

  private var source = Source()
  private var monotonic: Int64 = 0

  /// Makes a pass, and trims what it finds.
  /// - Returns: the trims of each batch.
  @discardableResult
  private mutating func pass(
    _ tracker: inout RetentionTracker, at now: Int64 = 0, version: Int = 0
  ) throws -> [[RoomTrim]] {
    var batches: [[RoomTrim]] = []
    guard
      try tracker.beginPass(version: version, wall: now, monotonic: monotonic, &source)
    else { return [] }
    while let trims = try tracker.step(&source) {
      if !trims.isEmpty { batches.append(trims) }
      for trim in trims {
        let number = Int64((source.rooms.firstIndex(of: trim.room) ?? 0) + 1)
        source.first[number] = trim.first
      }
    }
    return batches
  }

  private static func tracker(
    milliseconds: Int64? = nil, entries: Int64? = nil, bytes: Int64? = nil
  ) -> RetentionTracker {
    RetentionTracker(
      Retention([.init(rooms: .all, milliseconds: milliseconds, entries: entries, bytes: bytes)]))
  }

  @Test mutating func `the number of entries is exact, and no entry is read for it`() throws {
    source.add("a", (1...30).map { ($0, 1) })
    source.add("b", (1...10).map { ($0, 1) })
    var tracker = Self.tracker(entries: 10)
    #expect(try pass(&tracker).flatMap(\.self) == [RoomTrim(room: "a", first: 21, head: 30)])
    #expect(source.reads == 0)
  }

  @Test mutating func `the newest entries stay that have the size together`() throws {
    source.add("a", (1...10).map { ($0, 10) })
    var tracker = Self.tracker(bytes: 35)
    #expect(try pass(&tracker).flatMap(\.self).map(\.first) == [8])
    // An entry that is larger than the limit goes as well.
    source.add("a", [(11, 36)])
    #expect(try pass(&tracker, version: 1).flatMap(\.self).map(\.first) == [12])
  }

  @Test mutating func `entries of an age go, also all of a room, and those of its length`() throws {
    source.add("a", [(100, 1), (200, 1), (300, 1)])
    var tracker = Self.tracker(milliseconds: 1000)
    #expect(try pass(&tracker, at: 1099).isEmpty)
    #expect(try pass(&tracker, at: 1100).flatMap(\.self).map(\.first) == [2])
    #expect(try pass(&tracker, at: 1300).flatMap(\.self).map(\.first) == [4])
    #expect(try pass(&tracker, at: 9000, version: 1).isEmpty)
  }

  @Test mutating func `an entry goes when any limit says so`() throws {
    source.add("a", (1...10).map { ($0 * 100, 10) })
    var tracker = Self.tracker(milliseconds: 1000, entries: 8, bytes: 1000)
    #expect(try pass(&tracker, at: 1050).flatMap(\.self).map(\.first) == [3])
    #expect(try pass(&tracker, at: 1450).flatMap(\.self).map(\.first) == [5])
    var counted = Self.tracker(milliseconds: 1000, entries: 3)
    #expect(try pass(&counted, at: 1450).flatMap(\.self).map(\.first).max() == 8)
  }

  @Test mutating func `a batch trims a limited number of entries and rooms`() throws {
    source.add("a", (1...10_000).map { ($0, 1) })
    for room in 0..<100 { source.add("r\(room)", [(1, 1), (2, 1)]) }
    for var tracker in [
      Self.tracker(entries: 1), Self.tracker(bytes: 1), Self.tracker(milliseconds: 1),
    ] {
      source.first = [:]
      let batches = try pass(&tracker, at: 50_000)
      let sizes = batches.map { batch in
        (batch.count, batch.map(\.first).max() ?? 0)
      }
      #expect(batches.count >= 4)
      #expect(batches.allSatisfy { $0.count <= 64 })
      #expect(zip(sizes, sizes.dropFirst()).allSatisfy { $1.1 - $0.1 <= Retention.trimmedAtOnce })
      #expect(source.first[1] ?? 0 >= 10_000)
      #expect(source.first[101] ?? 0 >= 2)
    }
  }

  @Test mutating func `every entry is read at most twice, and none if nothing happens`() throws {
    source.add("a", (1...5000).map { ($0, 10) })
    var tracker = Self.tracker(milliseconds: 100_000, bytes: 10_000)
    try pass(&tracker, at: 5000)
    #expect(source.first[1] == 4001)
    #expect(source.reads <= 2 * 5000 + 128)
    source.reads = 0
    try pass(&tracker, at: 6000, version: 1)
    #expect(source.reads == 0)
    source.add("a", [(6000, 10)])
    try pass(&tracker, at: 6000, version: 2)
    #expect(source.first[1] == 4002)
    #expect(source.reads <= 66)
    // Before anything can go by its age, not even rooms are looked up.
    source.isBroken = true
    #expect(try pass(&tracker, at: 50_000, version: 2).isEmpty)
  }

  @Test mutating func `sizes are added up again, once an hour, before entries go because of them`()
    throws
  {
    source.add("a", (1...10).map { ($0, 10) })
    var tracker = Self.tracker(bytes: 100)
    try pass(&tracker)
    // Their texts were deleted.
    for place in 0..<10 { source.entries[1]?[place].bytes = 1 }
    monotonic = RetentionTracker.recountMilliseconds
    source.add("a", [(11, 50)])
    #expect(try pass(&tracker, version: 1).isEmpty)
    source.reads = 0
    source.add("a", [(12, 50)])
    #expect(try pass(&tracker, version: 2).flatMap(\.self).map(\.first) == [11])
    #expect(source.reads < 70)
  }

  @Test mutating func `entries that cannot be read go with later ones, and hold nothing up`() throws
  {
    source.add("a", (1...20).map { ($0, 10) })
    source.add("b", [(1, 10)])
    source.entries[1]?.removeSubrange(2..<6)
    var tracker = Self.tracker(milliseconds: 1000)
    #expect(try pass(&tracker, at: 1002).flatMap(\.self).map(\.first) == [3, 2])
    #expect(try pass(&tracker, at: 1008).flatMap(\.self).map(\.first) == [9])
    source.entries[1]?.removeAll { $0.seq < 20 }
    #expect(try pass(&tracker, at: 1015, version: 1).isEmpty)
    source.add("c", (1...9000).map { ($0, 1) })
    source.entries[3] = Array(source.entries[3]?.suffix(1) ?? [])
    source.add("d", [(1, 1)])
    #expect(
      try pass(&tracker, at: 1016, version: 2).flatMap(\.self) == [
        RoomTrim(room: "d", first: 2, head: 1)
      ])
  }

  @Test mutating func `what failed is found again`() throws {
    source.add("a", (1...10).map { ($0, 10) })
    var tracker = Self.tracker(bytes: 50)
    #expect(try tracker.beginPass(version: 1, wall: 0, monotonic: 0, &source))
    #expect(try tracker.step(&source)?.map(\.first) == [6])
    tracker.forgetPass()
    #expect(try pass(&tracker, version: 1).flatMap(\.self).map(\.first) == [6])
  }

  @Test mutating func `new rules count from the next pass on`() throws {
    source.add("a", (1...10).map { ($0, 10) })
    var tracker = RetentionTracker(Retention())
    #expect(try pass(&tracker).isEmpty)
    tracker.replace(by: .keeping(4))
    #expect(try pass(&tracker).flatMap(\.self).map(\.first) == [7])
  }

  @Test(arguments: 0..<40)
  mutating func `the plan says what passes remove`(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var at: Int64 = 0
    for room in 0..<3 {
      let count = Int.random(in: 0...200, using: &random)
      source.add(
        "r\(room)",
        (0..<count).map { _ in
          at += Int64.random(in: 0...5, using: &random)
          return (at, Int64.random(in: 1...50, using: &random))
        })
    }
    func some(_ range: ClosedRange<Int64>) -> Int64? {
      Bool.random(using: &random) ? Int64.random(in: range, using: &random) : nil
    }
    let rule = Retention.Rule(
      rooms: .all, milliseconds: some(1...2000), entries: some(1...200), bytes: some(1...5000))
    let now = at + 10
    var plan = RetentionPlan(Retention([rule]), now: now)
    for (number, entries) in source.entries where !entries.isEmpty {
      plan.add(
        room: source.rooms[Int(number) - 1], number: number, entries: entries.count,
        bytes: entries.reduce(0) { $0 + $1.bytes })
      for entry in entries { plan.take(entry, ofRoom: number) }
    }
    var tracker = RetentionTracker(Retention([rule]))
    try pass(&tracker, at: now)
    for row in plan.rows {
      let number = Int64((source.rooms.firstIndex(of: row.room) ?? 0) + 1)
      #expect(Int64(row.entries) == (source.first[number] ?? 1) - 1)
      #expect(row.oldest?.seq == (row.keptEntries == 0 ? nil : source.first[number] ?? 1))
    }
  }
}
