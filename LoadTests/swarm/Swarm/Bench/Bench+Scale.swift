/// Rows about growth: what a message costs as there is more of something.
extension Bench {
  private static let flat = BenchRow.Goal.atMost(1.2)
  private static let whole = BenchRow.Goal.atMost(2)

  /// One room, more and more subscribers, eight messages under way.
  ///
  /// Of each message's cost some is its own and some each subscriber's: what the step from one size
  /// to the next adds, for each subscriber that came, is the delivery alone.
  func measureSubscribers() throws -> [BenchRow] {
    var delivery = BenchRow(
      "subscribers-delivery", "subscribers 10 to 10,000: one delivery more", .times, goal: Self.flat
    )
    var commit = BenchRow(
      "subscribers-commit", "the same: commit of an entry", .times, goal: Self.flat)
    var all = BenchRow(
      "subscribers-whole", "the same: all, by deliveries", .times, goal: Self.whole)
    let floor = try start(.floor(places, deliveryBytes: deliveryBytes()))
    let relay = try start(.relay(places))
    let sizes = isQuick ? [10, 100, 1000] : [10, 100, 1000, 10_000]
    var costs: [(members: Double, entry: Double)] = []
    for members in sizes {
      let x = Double(members)
      let load = BenchLoad.room(members: members, window: 8)
      let below = try median(load, floor)
      let sample = try median(load, relay)
      all.fault = all.fault ?? sample.fault
      all.points.append(.init(line: "floor", x: x, y: 1e6 / below.deliveriesPerCPUSecond))
      all.points.append(.init(line: "relay", x: x, y: 1e6 / sample.deliveriesPerCPUSecond))
      let entries = Double(max(1, sample.result.whole.sends))
      commit.points.append(.init(line: "commit", x: x, y: sample.logSeconds * 1e6 / entries))
      costs.append((x, sample.serverSeconds * 1e6 / entries))
    }
    for (smaller, larger) in zip(costs, costs.dropFirst()) {
      let added = (larger.entry - smaller.entry) / (larger.members - smaller.members)
      delivery.points.append(.init(line: "delivery", x: larger.members, y: added))
    }
    var rows = Self.judged([delivery, commit, all])
    // A message to ten costs each of them a tenth of its commit: what is to hold is that a message
    // to many costs what those to few let expect.
    if costs.count > 2 {
      let (few, more) = (costs[0], costs[1])
      let each = (more.entry - few.entry) / (more.members - few.members)
      let excess = costs.map { $0.entry / (few.entry + each * ($0.members - few.members)) }
      rows[2].alone = (excess.max() ?? 0) / max(excess.min() ?? 0, 1e-9)
      rows[2].work = "the same: all, against what 10 and 100 let expect"
    }
    return rows
  }

  /// The same load, 500 conversations, while their people are joined to more and more silent rooms.
  func measureRooms() throws -> [BenchRow] {
    var delivery = BenchRow(
      "rooms-delivery", "rooms 500 to 50,000: loop, by deliveries", .times, goal: Self.flat)
    var commit = BenchRow("rooms-commit", "the same: commit of an entry", .times, goal: Self.flat)
    var all = BenchRow("rooms-whole", "the same: all, by deliveries", .times, goal: Self.whole)
    for more in isQuick ? [0, 9] : [0, 9, 49] {
      // Each on a relay of its own: a room stays known as long as someone is in it.
      let server = try start(.relay(places))
      let sample = try median(.directMessages(window: 1), server) { plan in
        for room in 0..<more {
          plan.dialect.prelude += [
            .send(#"{"type":"join","room":"{room}.{user}.\#(room)"}"#),
            .await(#"{"type":"joined""#),
          ]
        }
      }
      all.fault = all.fault ?? sample.fault
      let x = Double(500 + 1000 * more)
      let deliveries = Double(max(1, sample.result.whole.deliveries))
      let entries = Double(max(1, sample.result.whole.sends))
      all.points.append(.init(line: "relay", x: x, y: 1e6 / sample.deliveriesPerCPUSecond))
      let loops = sample.serverSeconds - sample.logSeconds
      delivery.points.append(.init(line: "delivery", x: x, y: loops * 1e6 / deliveries))
      commit.points.append(.init(line: "commit", x: x, y: sample.logSeconds * 1e6 / entries))
    }
    return Self.judged([delivery, commit, all])
  }

  /// Each row by its relay's dearest point in parts of the cheapest.
  static func judged(_ rows: [BenchRow]) -> [BenchRow] {
    rows.map { row in
      var row = row
      row.fault = rows.compactMap(\.fault).first
      let costs = row.points.filter { $0.line != "floor" }
      if let least = costs.map(\.y).min(), let most = costs.map(\.y).max(), least > 0 {
        row.alone = most / least
      }
      let figures = costs.map {
        "\(BenchTable.figure($0.y, .microseconds)) at \(BenchTable.figure($0.x, .entries))"
      }
      row.notes.append("µs CPU: \(figures.joined(separator: ", "))")
      return row
    }
  }

  /// The one in the middle of several.
  private func median(
    _ load: BenchLoad, _ server: BenchServer, _ change: (inout RawLoad.Plan) -> Void = { _ in }
  ) throws -> BenchSample {
    var samples: [BenchSample] = []
    for _ in 0..<pairs {
      guard var plan = plan(load, server, seconds: seconds * 2 / 3) else { break }
      change(&plan)
      samples.append(try BenchSample(plan, server, processor: BenchPlacement.apart.load))
    }
    guard !samples.isEmpty else { throw Failure(description: "nothing was measured") }
    samples.sort { $0.deliveriesPerCPUSecond < $1.deliveriesPerCPUSecond }
    return samples[samples.count / 2]
  }
}
