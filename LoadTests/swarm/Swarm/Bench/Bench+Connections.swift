/// Rows about connections: their memory, the rate of connecting and the rate of resuming.
extension Bench {
  /// Measures the server's memory per silent connection that is joined to a room.
  func measureIdle(_ row: BenchRow) throws -> BenchRow {
    var row = row
    row.floorAlone = try idleBytes(start(.floor(places, deliveryBytes: deliveryBytes())), &row)
    row.alone = try idleBytes(start(.relay(places)), &row)
    row.peers = peers(try deliveryBytes(), withLibrary: true) { server in
      var scratch = row
      return (try idleBytes(server, &scratch), scratch.fault ?? "")
    }
    return row
  }

  private func idleBytes(_ server: BenchServer, _ row: inout BenchRow) throws -> Double {
    try idleBytes(
      server, connections: isQuick ? 1000 : 10_000, processor: BenchPlacement.apart.load, &row)
  }

  /// Returns the growth of the server's resident memory per silent connection.
  func idleBytes(
    _ server: BenchServer, connections: Int, processor: Int?, _ row: inout BenchRow
  ) throws -> Double {
    guard var plan = plan(.room(members: 100, window: 1), server) else { return 0 }
    plan.work = .idle
    plan.seconds = 0.1
    plan.processor = processor
    // Memory that the first hundred connections allocate once is not counted.
    _ = try RawLoad(plan).play()
    plan.rooms = connections / plan.membersPerRoom
    plan.sourceAddresses = Self.sources(for: connections)
    name(&plan, server)
    server.waitUntilIdle()
    let before = server.residentBytes
    var after = before
    let result = try RawLoad(plan).play { moment in
      guard case .ready = moment else { return }
      server.waitUntilIdle()
      after = server.residentBytes
    }
    if result.connectionsLost > 0 {
      row.fault = "\(result.connectionsLost) connections lost: \(result.lastError ?? "?")"
    }
    return Double(after - before) / Double(connections)
  }

  /// Measures connecting and joining, as fast as possible.
  func measureConnects(_ row: BenchRow) throws -> BenchRow {
    var row = row
    let bytes = try deliveryBytes()
    let floor = try start(.floor(places, deliveryBytes: bytes))
    let relay = try start(.relay(places))
    var library = libraryRuns(bytes)
    library?.warmUp { _ = try connects($0) }
    var costs: [Double] = []
    for _ in 0..<pairs {
      let below = try connects(floor)
      let above = try connects(relay)
      row.pairs.append(
        .init(floor: below.result.connectsPerSecond, relay: above.result.connectsPerSecond))
      costs.append(above.serverSeconds * 1e6 / Double(above.result.connections))
      library?.add { server in
        let run = try connects(server)
        return (run.result.connectsPerSecond, run.fault)
      }
      row.fault = row.fault ?? below.fault ?? above.fault
      if above.result.isSaturated {
        row.notes = ["the load generator was the limit: the server could have done more"]
      }
    }
    if let cost = BenchRow.median(costs) { row.details.append(.init("µs CPU each", cost)) }
    [floor, relay].forEach { $0.stop() }
    row.notes.append(
      "connections to the floor end after the handshake: it has no join; those of uWebSockets, node and"
        + " nchan join a room in the handshake")
    if let peer = library?.end() { row.peers.append(peer) }
    row.peers += peers(bytes) { server in
      _ = try connects(server)
      let sample = try connects(server)
      return (sample.result.connectsPerSecond, sample.fault ?? "")
    }
    return row
  }

  func connectsPerCPUSecond(_ server: BenchServer) throws -> (figure: Double, fault: String?) {
    let run = try connects(server)
    return (Double(run.result.connections) / max(run.serverSeconds, 1e-9), run.fault)
  }

  private func connects(_ server: BenchServer) throws -> BenchSample {
    guard var plan = plan(.room(members: 50, window: 1), server) else {
      throw Failure(description: "\(server.program.name) has no rooms")
    }
    plan.rooms = isQuick ? 20 : 100
    plan.work = .connect
    return try BenchSample(plan, server, processor: BenchPlacement.apart.load)
  }

  /// Measures the time from a client's first request to join a room to its answer. One client at a
  /// time connects, so that the relay has nothing else to do.
  func measureJoins(_ middle: BenchRow, _ late: BenchRow) throws -> [BenchRow] {
    var (middle, late) = (middle, late)
    let server = try start(.relay(places))
    guard var plan = plan(.room(members: 50, window: 1), server) else { return [] }
    let join = plan.dialect.prelude
    plan.dialect.prelude = [.await(#"{"type":"welcome""#)] + join
    plan.rooms = isQuick ? 2 : 20
    plan.work = .connect
    plan.connectsAtOnce = 1
    var samples: [BenchSample] = []
    for _ in 0..<pairs {
      let sample = try BenchSample(plan, server, processor: BenchPlacement.apart.load)
      middle.fault = middle.fault ?? sample.fault
      samples.append(sample)
      name(&plan, server)
    }
    func median(_ percentile: Percentile) -> Double? {
      BenchRow.median(
        samples.compactMap { $0.result.latencies.milliseconds(.join, percentile) })
    }
    middle.alone = median(.p50)
    late.alone = median(.p99)
    late.fault = middle.fault
    return [middle, late]
  }

  /// Measures the simultaneous return of all connections: the rate at which they receive the missed
  /// entries, and the relay's memory per connection meanwhile.
  func measureReturn(_ rate: BenchRow, _ memory: BenchRow) throws -> [BenchRow] {
    var (rate, memory) = (rate, memory)
    var (rates, growths): ([Double], [Double]) = ([], [])
    for _ in 0..<pairs {
      let server = try start(.relay(places))
      guard var plan = plan(.room(members: 100, window: 1), server) else { break }
      plan.rooms = 10
      plan.work = .resume(messages: isQuick ? 200 : 1000)
      plan.processor = BenchPlacement.apart.load
      var before = 0
      var peak = 0
      let result = try RawLoad(plan).play { moment in
        switch moment {
        case .ready:
          server.waitUntilIdle()
          server.probe.forgetPeak()
          before = server.residentBytes
        case .drained: peak = server.probe.peakBytes
        case .measuring, .measured: break
        }
      }
      if result.missing != 0 {
        rate.fault = "\(result.missing) of \(result.counts.deliveries + result.missing) missing"
      }
      rates.append(result.deliveriesPerSecond)
      growths.append(Double(max(0, peak - before)) / Double(plan.connections))
      if result.isSaturated {
        rate.notes = ["the load generator was the limit: the relay could have done more"]
      }
    }
    rate.alone = BenchRow.median(rates)
    memory.alone = growths.max()
    memory.fault = rate.fault
    return [rate, memory]
  }
}
