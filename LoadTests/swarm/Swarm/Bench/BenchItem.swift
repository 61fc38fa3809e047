/// A measurement of the benchmark, which yields one or more rows of the table.
struct BenchItem: Sendable {
  /// The ids of its rows.
  var ids: [String]
  /// The title shown while it runs.
  var title: String
  /// Whether it takes long, so that it is measured by a full run, or by its name.
  var isLong = false
  /// Measures. An error is recorded in the rows as their fault.
  var measure: @Sendable (Bench) throws -> [BenchRow]
}

extension BenchItem {
  /// All measurements, in their order.
  static let all: [BenchItem] =
    echoes + rooms + directMessages + [
      idle, connects, acksOfDirectMessages, acksOfRoom, comingBack,
    ]
    + [append, appendRooms, stored, subscribers, roomsJoined] + twoLoops + slopes

  /// The goal is the ratio to the floor that the best in-memory library reaches.
  private static let echoes = [1, 16].map { depth in
    pairs(
      "echo-\(depth)", "echo, 64 B, 100 connections, depth \(depth)", goal: .ofFloor(1),
      .echo(depth: depth))
  }

  private static let rooms = [(1, 0.96), (8, nil), (32, 0.86)].map { window, factor in
    pairs(
      "room-\(window)", "room of 1,000, 128 B, \(window) in flight",
      goal: factor.map { .ofFloor($0) }, .room(members: 1000, window: window))
  }

  /// The goal is a number per second of CPU time, on a machine whose floor is known.
  private static let directMessages = [(1, 185_000.0), (8, 330_000.0)].map { window, library in
    let id = "dms-\(window)"
    let work = "500 rooms of 2, 128 B, \(window) in flight each"
    return BenchItem(ids: [id], title: work) { bench in
      let share = 0.8
      let factor = try bench.machineFactor()
      var row = BenchRow(id, work, .deliveries, goal: .atLeast(share * library * factor))
      try bench.measurePairs(&row, .directMessages(window: window))
      row.details.append(.init("expected of the library on this machine", library * factor))
      return [row]
    }
  }

  private static func pairs(
    _ id: String, _ work: String, goal: BenchRow.Goal?, _ load: BenchLoad, isShared: Bool = false
  ) -> BenchItem {
    BenchItem(ids: [id], title: work) { bench in
      var row = BenchRow(id, work, .deliveries, goal: goal)
      row.isShared = isShared
      try bench.measurePairs(&row, load)
      return [row]
    }
  }

  private static let idle = BenchItem(ids: ["idle"], title: "idle connections") { bench in
    [
      try bench.measureIdle(
        BenchRow("idle", "idle connection, joined", .bytes, goal: .atMost(1024)))
    ]
  }

  private static let connects = BenchItem(ids: ["connects"], title: "new connections") { bench in
    let goal = BenchRow.Goal.atLeast(11_000 * (try bench.machineFactor()))
    return [
      try bench.measureConnects(
        BenchRow("connects", "new connections, to joined", .connections, goal: goal))
    ]
  }

  private static let acksOfDirectMessages = acks(
    "dms", "ack at half load, 500 rooms of 2", .directMessages(window: 8))
  private static let acksOfRoom = acks(
    "room", "ack at half load, room of 1,000", .room(members: 1000, window: 32))

  private static func acks(_ name: String, _ work: String, _ load: BenchLoad) -> BenchItem {
    let ids = ["ack-\(name)-p50", "ack-\(name)-p99"]
    return BenchItem(ids: ids, title: work) { bench in
      try bench.measureAcks(
        BenchRow(ids[0], "\(work), p50", .milliseconds, goal: .atMost(1.5)),
        BenchRow(ids[1], "\(work), p99", .milliseconds, goal: .atMost(5)), load)
    }
  }

  private static let comingBack = BenchItem(
    ids: ["return", "return-memory"], title: "1,000 clients come back"
  ) { bench in
    try bench.measureReturn(
      BenchRow(
        "return", "1,000 clients come back, lagging by 1,000", .entries, goal: .atLeast(1_000_000)),
      BenchRow(
        "return-memory", "the same: memory per client", .bytes, goal: .atMost(262_144)))
  }

  private static let append = BenchItem(
    ids: ["append", "append-cpu"], title: "durable append"
  ) { try $0.measureAppend() }

  private static let appendRooms = BenchItem(
    ids: ["append-rooms"], title: "durable append, 1 to 50,000 rooms"
  ) { try $0.measureAppendRooms() }

  private static let stored = BenchItem(
    ids: ["stored", "stored-cpu", "stored-commit", "stored-whole", "stored-stall"],
    title: "durable append to a growing store"
  ) { try $0.measureStored() }

  private static let subscribers = BenchItem(
    ids: ["subscribers-delivery", "subscribers-commit", "subscribers-whole"],
    title: "subscribers 10 to 10,000"
  ) { try $0.measureSubscribers() }

  private static let roomsJoined = BenchItem(
    ids: ["rooms-delivery", "rooms-commit", "rooms-whole"], title: "rooms 500 to 50,000"
  ) { try $0.measureRooms() }

  private static let twoLoops = [
    ("two-echo-16", "echo, 64 B, 100 connections, depth 16", BenchLoad.echo(depth: 16)),
    ("two-room-1", "room of 1,000, 128 B, 1 in flight", .room(members: 1000, window: 1)),
    ("two-room-32", "room of 1,000, 128 B, 32 in flight", .room(members: 1000, window: 32)),
    ("two-dms-1", "500 rooms of 2, 128 B, 1 in flight each", .directMessages(window: 1)),
    ("two-dms-8", "500 rooms of 2, 128 B, 8 in flight each", .directMessages(window: 8)),
  ].map { pairs($0.0, $0.1, goal: nil, $0.2, isShared: true) }

  /// Whether a name on the command line selects it: a row's id, or a prefix that ends before a
  /// dash.
  func matches(_ name: String) -> Bool {
    ids.contains { $0 == name || $0.hasPrefix("\(name)-") }
  }
}
