internal import Platform

/// Rows about slopes: whether a cost stays the same while a quantity grows a thousandfold.
///
/// Each size is measured several times, in turn with the other sizes, and the figure is the growth
/// of the cost: the median over the turns, because a disturbance of the machine affects all sizes
/// of a turn. The rate of sends is the same at all sizes, so that batches are equally large.
extension Bench {
  private static let sendsPerSecond = 10_000.0
  /// Each send to the room of 1,000 is 1,000 deliveries.
  private static let roomSendsPerSecond = 100.0
  private static let talkingRooms = 500
  private static let silentRoomMembers = 100
  /// The messages in flight of the load that fills a store.
  private static let fillWindow = 64

  /// A size of a slope: how large, on which server, under which load.
  private struct Size {
    var x: Double
    var server: BenchServer
    var plan: RawLoad.Plan
  }

  // MARK: Connections

  /// Measures the resident memory per silent connection.
  func measureMemorySlope(_ row: inout BenchRow, loops: Int) throws {
    for connections in connectionSizes {
      var figures: [Double] = []
      for _ in 0..<pairs {
        let server = try start(.relay(places, loops: loops), placement(loops))
        figures.append(
          try idleBytes(server, connections: connections, processor: placement(loops).load, &row))
      }
      if let bytes = BenchRow.median(figures) {
        row.points.append(.init(line: "bytes", x: Double(connections), y: bytes))
      }
    }
    row.alone = Self.growth(row.points.map(\.y))
    let figures = row.points.map {
      "\(BenchTable.figure($0.y, .bytes)) at \(BenchTable.figure($0.x, .entries))"
    }
    row.notes.append("bytes: \(figures.joined(separator: ", "))")
  }

  /// Measures 500 conversations while a growing number of other connections is silent.
  func measureIdleSlope(_ row: inout BenchRow, loops: Int) throws {
    let talking = RawLoad.Room(members: 2, senders: 2)
    let silent = RawLoad.Room(members: Self.silentRoomMembers, senders: 0)
    try measure(&row, connectionSizes, loops) { connections, plan in
      let others = connections - 2 * Self.talkingRooms
      plan.layout =
        Array(repeating: talking, count: Self.talkingRooms)
        + Array(repeating: silent, count: others / Self.silentRoomMembers)
    }
  }

  /// Measures conversations between a growing number of connections, with the same number of sends.
  func measureTalkingSlope(_ row: inout BenchRow, loops: Int) throws {
    try measure(&row, connectionSizes, loops) { connections, plan in plan.rooms = connections / 2 }
  }

  /// The relay and the load each need a descriptor per connection, of 20,000 that a process has by
  /// default.
  private var connectionSizes: [Int] { isQuick ? [1000, 2000] : [1000, 10_000, 18_000] }

  /// Returns the addresses that this many connections come from. An address has 28,232 ports by
  /// default, and once half of them are in use the kernel takes long to find a free one.
  static func sources(for connections: Int) -> [Address] {
    let perAddress = 5000
    return connections <= perAddress
      ? []
      : (1...(connections + perAddress - 1) / perAddress).compactMap {
        Address(numericHost: "127.0.0.\($0)", port: 0)
      }
  }

  // MARK: Rooms

  /// Measures one room while its members have also joined a growing number of silent rooms.
  func measureIdleRoomsSlope(_ row: inout BenchRow, loops: Int) throws {
    let members = 1000
    let sizes = (isQuick ? [0, 2] : [0, 5, 50]).map { 1 + members * $0 }
    try measure(&row, sizes, loops) { rooms, plan in
      plan.rooms = 1
      plan.membersPerRoom = members
      plan.sendersPerRoom = 1
      plan.work = .publish(.rate(Self.roomSendsPerSecond))
      for other in 0..<rooms / members { plan.dialect.join("{room}.{user}.\(other)") }
    }
  }

  /// Measures 500 pairs of connections that talk in a growing number of rooms, each pair in turn in
  /// those that it shares.
  func measureTalkingRoomsSlope(_ row: inout BenchRow, loops: Int) throws {
    let sizes = (isQuick ? [1, 3] : [1, 10, 100]).map { Self.talkingRooms * $0 }
    try measure(&row, sizes, loops) { rooms, plan in
      plan.lanes = rooms / Self.talkingRooms
      plan.dialect.publish = plan.dialect.publish.replacing("{room}", with: "{room}.{lane}")
      plan.dialect.prelude = []
      for lane in 0..<plan.lanes { plan.dialect.join("{room}.\(RawText.lane(lane))") }
    }
  }

  // MARK: Entries

  /// Measures conversations in rooms with a growing history, in turn with a relay that has almost
  /// none.
  func measureStoredSlope(_ row: inout BenchRow, loops: Int) throws {
    let empty = try start(.relay(places, loops: loops), placement(loops))
    let filled = try start(.relay(places, loops: loops), placement(loops))
    guard var plan = plan(.directMessages(window: 1), empty, seconds: seconds) else { return }
    plan.work = .publish(.rate(Self.sendsPerSecond))
    var stored = 0
    var growths: [Double] = []
    var figures: [String] = []
    let targets =
      isQuick ? [20_000] : settings.extent == .full ? [1_000_000, 10_000_000] : [1_000_000]
    for target in targets {
      while stored < target { stored += try fill(filled, plan, most: target - stored, loops) }
      let x = Double(stored)
      let sizes = [empty, filled].map { server in
        var plan = plan
        plan.url = server.url() ?? plan.url
        return Size(x: server === empty ? 0 : x, server: server, plan: plan)
      }
      let costs = try costs(of: sizes, &row, loops)
      if let growth = Self.growth(costs) { growths.append(growth) }
      // The machine may have another speed than at the size before, so the line of the empty relay is
      // needed to read the other.
      guard let below = BenchRow.median(costs[0]), let above = BenchRow.median(costs[1]) else {
        continue
      }
      row.points.append(.init(line: "empty", x: x, y: below))
      row.points.append(.init(line: "relay", x: x, y: above))
      figures.append(
        "\(BenchTable.figure(above, .microseconds)) at \(BenchTable.figure(x, .entries)),"
          + " \(BenchTable.figure(below, .microseconds)) almost empty")
    }
    row.alone = growths.max()
    row.work =
      "500 rooms of 2, 0 to \(BenchTable.figure(Double(stored), .entries)) entries stored: a delivery"
    row.notes.append("µs CPU: \(figures.joined(separator: "; "))")
  }

  /// Stores entries in the rooms in which `plan` talks.
  ///
  /// - Returns: The number of entries.
  private func fill(
    _ server: BenchServer, _ talking: RawLoad.Plan, most: Int, _ loops: Int
  ) throws -> Int {
    var plan = talking
    plan.url = server.url() ?? plan.url
    plan.membersPerRoom = 1
    plan.sendersPerRoom = 1
    plan.work = .publish(.window(Self.fillWindow))
    plan.warmUpSeconds = 0
    // A relay stores less than 400,000 entries per second.
    plan.seconds = min(5, max(0.05, Double(most) / 400_000))
    plan.dialect.query = "user={room}"
    let sample = try BenchSample(plan, server, processor: placement(loops).load)
    if let fault = sample.fault { throw Failure(description: "while rooms were filled: \(fault)") }
    return sample.result.whole.sends
  }

  // MARK: Measuring

  private func placement(_ loops: Int) -> BenchPlacement { loops == 1 ? .apart : .shared }

  /// Measures a slope with a relay for each size.
  ///
  /// - Parameter change: Adapts the load, 500 conversations, to a size.
  private func measure(
    _ row: inout BenchRow, _ sizes: [Int], _ loops: Int,
    _ change: (Int, inout RawLoad.Plan) -> Void
  ) throws {
    let sizes = try sizes.compactMap { size -> Size? in
      let server = try start(.relay(places, loops: loops), placement(loops))
      guard var plan = plan(.directMessages(window: 1), server, seconds: seconds) else {
        return nil
      }
      plan.work = .publish(.rate(Self.sendsPerSecond))
      change(size, &plan)
      plan.sourceAddresses = Self.sources(for: plan.connections)
      return Size(x: Double(size), server: server, plan: plan)
    }
    let costs = try costs(of: sizes, &row, loops)
    for (size, costs) in zip(sizes, costs) {
      guard let cost = BenchRow.median(costs) else { continue }
      row.points.append(.init(line: "relay", x: size.x, y: cost))
    }
    row.alone = Self.growth(costs)
    describe(&row)
  }

  /// Returns the CPU time per delivery, in µs: for each size, that of each turn.
  private func costs(
    of sizes: [Size], _ row: inout BenchRow, _ loops: Int
  ) throws -> [[Double]] {
    var costs = Array(repeating: [Double](), count: sizes.count)
    for _ in 0..<pairs {
      for (index, size) in sizes.enumerated() {
        let sample = try BenchSample(size.plan, size.server, processor: placement(loops).load)
        row.fault = row.fault ?? sample.fault
        costs[index].append(
          sample.serverSeconds * 1e6 / Double(max(1, sample.result.whole.deliveries)))
        if let p99 = sample.result.latencies.milliseconds(.deliver, .p99) {
          row.details.append(
            .init("deliver p99 at \(BenchTable.figure(size.x, .entries)), ms", p99))
        }
      }
    }
    return costs
  }

  /// Returns the growth of costs that were measured in turns: the largest median ratio of a size to
  /// a smaller one.
  ///
  /// - Parameter costs: For each size, that of each turn.
  static func growth(_ costs: [[Double]]) -> Double? {
    var growth: Double?
    for (index, larger) in costs.enumerated() {
      for smaller in costs[..<index] {
        let ratios = zip(larger, smaller).filter { $1 > 0 }.map { $0 / $1 }
        if let ratio = BenchRow.median(ratios) { growth = max(growth ?? 0, ratio) }
      }
    }
    return growth
  }

  private func describe(_ row: inout BenchRow) {
    let figures = row.points.map {
      "\(BenchTable.figure($0.y, .microseconds)) at \(BenchTable.figure($0.x, .entries))"
    }
    row.notes.append("µs CPU: \(figures.joined(separator: ", "))")
  }
}

extension RawDialect {
  /// Makes every connection also a member of this room of a relay.
  fileprivate mutating func join(_ room: String) {
    prelude += [.send(#"{"type":"join","room":"\#(room)"}"#), .await(#"{"type":"joined""#)]
  }
}
