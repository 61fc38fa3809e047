/// Rows about waiting.
extension Bench {
  /// What an acknowledgement takes while the relay does half of what it could.
  func measureAcks(_ middle: BenchRow, _ late: BenchRow, _ load: BenchLoad) throws -> [BenchRow] {
    var (middle, late) = (middle, late)
    let server = try start(.relay(places))
    guard let most = plan(load, server), var half = plan(load, server, seconds: seconds * 3) else {
      return []
    }
    let saturated = try BenchSample(most, server, processor: BenchPlacement.apart.load)
    let rate = saturated.result.sendsPerSecond / 2
    half.work = .publish(.rate(rate))
    half.warmUpSeconds = 0.5
    let sample = try BenchSample(half, server, processor: BenchPlacement.apart.load)
    middle.alone = sample.result.latencies.milliseconds(.ack, .p50)
    late.alone = sample.result.latencies.milliseconds(.ack, .p99)
    middle.fault = saturated.fault ?? sample.fault
    late.fault = middle.fault
    middle.details = [
      .init("sends / s, saturated", saturated.result.sendsPerSecond),
      .init("sends / s", sample.result.sendsPerSecond),
      .init("deliver p50, ms", sample.result.latencies.milliseconds(.deliver, .p50) ?? 0),
      .init("deliver p99, ms", sample.result.latencies.milliseconds(.deliver, .p99) ?? 0),
      .init("ack max, ms", sample.result.latencies.milliseconds(.ack, .max) ?? 0),
      .init("relay, cores", sample.serverSeconds / (sample.result.seconds + half.warmUpSeconds)),
    ]
    middle.notes = [
      "\(BenchTable.figure(rate, .entries)) sends / s, half of"
        + " \(BenchTable.figure(saturated.result.sendsPerSecond, .entries))"
    ]
    return [middle, late]
  }
}
