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
    echoes + rooms + directMessages + secured + [
      idle, connects, join, acksOfDirectMessages, acksOfRoom, comingBack,
    ]
    + [append, appendRooms, stored, subscribers, roomsJoined] + twoLoops + slopes

  private static let echoes = [1, 16].map { depth in
    pairs(
      "echo-\(depth)", "echo, 64 B, 100 connections, depth \(depth)", goal: .ofLibrary(1),
      .echo(depth: depth))
  }

  private static let rooms = [1, 8, 32].map { window in
    pairs(
      "room-\(window)", "room of 1,000, 128 B, \(window) in flight", goal: .ofLibrary(1),
      .room(members: 1000, window: window))
  }

  private static let directMessages = [1, 8].map { window in
    pairs(
      "dms-\(window)", "500 rooms of 2, 128 B, \(window) in flight each", goal: .ofLibrary(1),
      .directMessages(window: window))
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

  private static let secured = [
    BenchItem(ids: ["tls-room-8"], title: "room of 1,000 with TLS 1.3") { bench in
      [
        try bench.measureSecured(
          BenchRow("tls-room-8", "room of 1,000, 128 B, 8 in flight, TLS 1.3", .deliveries)
        ) { server in try bench.deliveries(.room(members: 1000, window: 8), server) }
      ]
    },
    BenchItem(ids: ["tls-connects"], title: "new connections with TLS 1.3") { bench in
      [
        try bench.measureSecured(
          BenchRow("tls-connects", "new connections with TLS 1.3, to joined", .connectionsByCPU)
        ) { server in try bench.connectsPerCPUSecond(server) }
      ]
    },
  ]

  private static let idle = BenchItem(ids: ["idle"], title: "idle connections") { bench in
    [
      try bench.measureIdle(
        BenchRow("idle", "idle connection, joined", .bytes, goal: .atMost(800)))
    ]
  }

  private static let connects = BenchItem(ids: ["connects"], title: "new connections") { bench in
    let goal = BenchRow.Goal.atLeast(11_000 * (try bench.machineFactor()))
    return [
      try bench.measureConnects(
        BenchRow("connects", "new connections, to joined", .connections, goal: goal))
    ]
  }

  private static let join = BenchItem(ids: ["join", "join-p99"], title: "joins") { bench in
    let work = "join on an idle relay, one at a time"
    return try bench.measureJoins(
      BenchRow("join", "\(work), p50", .milliseconds, goal: .atMost(0.15)),
      BenchRow("join-p99", "\(work), p99", .milliseconds))
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
