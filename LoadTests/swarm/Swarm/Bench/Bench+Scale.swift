/// Rows about scaling: how the cost of a message grows with a quantity.
extension Bench {
  private static let departuresSeconds = 4.0
  private static let flat = BenchRow.Goal.atMost(1.2)
  private static let whole = BenchRow.Goal.atMost(2)

  /// Measures one room with a growing number of subscribers and eight messages in flight.
  ///
  /// The cost of a message has a fixed part and a part per subscriber. The increase from one size
  /// to the next, divided by the added subscribers, is the cost of a delivery alone.
  ///
  /// The clients of the sample before become offline 3 s after they have left, and that is over before the
  /// load begins: otherwise it is most of what the log does for a room of 10,000, which sends little.
  func measureSubscribers() throws -> [BenchRow] {
    var delivery = BenchRow(
      "subscribers-delivery", "subscribers 10 to 10,000: one more delivery", .times, goal: Self.flat
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
      let sample = try median(load, relay, restSeconds: isQuick ? 0 : Self.departuresSeconds)
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
    // With ten subscribers each bears a tenth of the commit. So the cost with many subscribers is
    // compared with the cost extrapolated from few.
    if costs.count > 2 {
      let (few, more) = (costs[0], costs[1])
      let each = (more.entry - few.entry) / (more.members - few.members)
      let excess = costs.map { $0.entry / (few.entry + each * ($0.members - few.members)) }
      rows[2].alone = (excess.max() ?? 0) / max(excess.min() ?? 0, 1e-9)
      rows[2].work = "the same: all, against the extrapolation from 10 and 100"
    }
    return rows
  }

  /// Measures the same load of 500 conversations, while their users are joined to a growing number
  /// of silent rooms.
  func measureRooms() throws -> [BenchRow] {
    var delivery = BenchRow(
      "rooms-delivery", "rooms 500 to 50,000: loop, by deliveries", .times, goal: Self.flat)
    var commit = BenchRow("rooms-commit", "the same: commit of an entry", .times, goal: Self.flat)
    var all = BenchRow("rooms-whole", "the same: all, by deliveries", .times, goal: Self.whole)
    for more in isQuick ? [0, 9] : [0, 9, 49] {
      // Each size has a relay of its own, because a room stays in memory while it has subscribers.
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

  /// Returns how much the cost grows: the largest ratio of a cost to one at a smaller size. A cost
  /// that falls is below 1.
  ///
  /// - Parameter costs: In the order of the sizes.
  static func growth(_ costs: [Double]) -> Double? {
    var growth: Double?
    var least = Double.infinity
    for cost in costs {
      if least > 0, least.isFinite { growth = max(growth ?? 0, cost / least) }
      least = min(least, cost)
    }
    return growth
  }

  /// Judges each row by the growth of the relay's cost.
  static func judged(_ rows: [BenchRow]) -> [BenchRow] {
    rows.map { row in
      var row = row
      row.fault = rows.compactMap(\.fault).first
      let costs = row.points.filter { $0.line != "floor" }
      row.alone = growth(costs.map(\.y))
      let figures = costs.map {
        "\(BenchTable.figure($0.y, .microseconds)) at \(BenchTable.figure($0.x, .entries))"
      }
      row.notes.append("µs CPU: \(figures.joined(separator: ", "))")
      return row
    }
  }

  /// Returns the median of several samples.
  private func median(
    _ load: BenchLoad, _ server: BenchServer, restSeconds: Double = 0,
    _ change: (inout RawLoad.Plan) -> Void = { _ in }
  ) throws -> BenchSample {
    var samples: [BenchSample] = []
    for _ in 0..<pairs {
      guard var plan = plan(load, server, seconds: seconds * 2 / 3) else { break }
      change(&plan)
      samples.append(
        try BenchSample(
          plan, server, processor: BenchPlacement.apart.load, restSeconds: restSeconds))
    }
    guard !samples.isEmpty else { throw Failure(description: "nothing was measured") }
    samples.sort { $0.deliveriesPerCPUSecond < $1.deliveriesPerCPUSecond }
    return samples[samples.count / 2]
  }
}
