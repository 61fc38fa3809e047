/// Rows about latency.
extension Bench {
  /// A relay sustains a rate if half of all sends are acknowledged within this time: above that
  /// rate sends queue up, and latencies grow with the duration of the load.
  private static let heldMilliseconds = 20.0
  /// The precision, as a factor, to which the sustained rate is found.
  private static let heldPrecision = 1.15
  private static let attempts = 8

  /// Measures the latency of acknowledgements at half of the sustained rate. The floor's delivery
  /// latency at the same rate is measured as well: it is the machine's share, because every
  /// disturbance of the machine affects a p99.
  func measureAcks(_ middle: BenchRow, _ late: BenchRow, _ load: BenchLoad) throws -> [BenchRow] {
    var (middle, late) = (middle, late)
    let server = try start(.relay(places))
    let floor = try start(.floor(places, deliveryBytes: deliveryBytes()))
    guard let most = try heldRate(load, server) else { return [] }
    var halves: [(p99: Double, sample: BenchSample)] = []
    var floors: [(p50: Double, p99: Double)] = []
    for _ in 0..<pairs {
      guard let below = try sample(load, floor, rate: most / 2, seconds: seconds),
        let half = try sample(load, server, rate: most / 2, seconds: seconds)
      else { return [] }
      middle.fault = middle.fault ?? half.fault
      if let p50 = below.result.latencies.milliseconds(.deliver, .p50),
        let p99 = below.result.latencies.milliseconds(.deliver, .p99)
      {
        floors.append((p50, p99))
      }
      if let p99 = half.result.latencies.milliseconds(.ack, .p99) { halves.append((p99, half)) }
    }
    late.fault = middle.fault
    halves.sort { $0.p99 < $1.p99 }
    guard !halves.isEmpty else { return [] }
    let half = halves[halves.count / 2].sample
    middle.alone = BenchRow.median(
      halves.compactMap { $0.sample.result.latencies.milliseconds(.ack, .p50) })
    late.alone = BenchRow.median(halves.map(\.p99))
    middle.floorAlone = BenchRow.median(floors.map(\.p50))
    late.floorAlone = BenchRow.median(floors.map(\.p99))
    late.notes = [
      "p99 of each run: \(halves.map { BenchTable.figure($0.p99, .milliseconds) }.joined(separator: ", "))"
        + " ms; the floor's, of deliveries at the same rate: "
        + floors.map { BenchTable.figure($0.p99, .milliseconds) }.joined(separator: ", ")
    ]
    middle.details = [
      .init("sends / s, sustained", most),
      .init("sends / s", half.result.sendsPerSecond),
      .init("deliver p50, ms", half.result.latencies.milliseconds(.deliver, .p50) ?? 0),
      .init("deliver p99, ms", half.result.latencies.milliseconds(.deliver, .p99) ?? 0),
      .init("ack max, ms", half.result.latencies.milliseconds(.ack, .max) ?? 0),
      .init("relay, cores", half.serverSeconds / (half.result.seconds + Self.warmUpSeconds)),
    ]
    middle.notes = [
      "\(BenchTable.figure(half.result.sendsPerSecond, .entries)) sends / s, half of the"
        + " \(BenchTable.figure(most, .entries)) that are sustained"
    ]
    return [middle, late]
  }

  private static let warmUpSeconds = 0.5

  /// Finds the largest sustained rate of an open loop. A closed window would measure another load:
  /// its senders wait for the relay, so waiting sends share writes.
  private func heldRate(_ load: BenchLoad, _ server: BenchServer) throws -> Double? {
    guard let closed = plan(load, server) else { return nil }
    var tooMuch = try BenchSample(closed, server, processor: BenchPlacement.apart.load)
      .result.sendsPerSecond
    var held = 0.0
    for _ in 0..<Self.attempts where held == 0 || tooMuch > held * Self.heldPrecision {
      let rate = held == 0 ? tooMuch / 2 : (held * tooMuch).squareRoot()
      guard let sample = try sample(load, server, rate: rate, seconds: seconds) else { return nil }
      let middle = sample.result.latencies.milliseconds(.ack, .p50) ?? .infinity
      let isHeld = sample.fault == nil && middle <= Self.heldMilliseconds
      if isHeld { held = rate } else { tooMuch = rate }
    }
    return held > 0 ? held : tooMuch
  }

  private func sample(
    _ load: BenchLoad, _ server: BenchServer, rate: Double, seconds: Double
  ) throws -> BenchSample? {
    guard var plan = plan(load, server, seconds: seconds) else { return nil }
    plan.work = .publish(.rate(rate))
    plan.warmUpSeconds = Self.warmUpSeconds
    return try BenchSample(plan, server, processor: BenchPlacement.apart.load)
  }
}
