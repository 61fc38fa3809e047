/// Rows that consist of pairs: floor and relay alternately.
extension Bench {
  /// Measures floor and relay alternately, then the peers.
  func measurePairs(_ row: inout BenchRow, _ load: BenchLoad) throws {
    let placement: BenchPlacement = row.isShared ? .shared : .apart
    let bytes = try deliveryBytes()
    let floor = try start(.floor(places, deliveryBytes: bytes), placement)
    let relay = try start(
      .relay(places, loops: row.isShared ? 2 : 1, echo: load.isEcho), placement)
    let single = row.isShared ? try start(.relay(places, echo: load.isEcho), placement) : nil
    let servers = [floor, relay] + (single.map { [$0] } ?? [])
    var library = row.isShared ? nil : libraryRuns(bytes)
    // The first run of each is not counted: memory, buffers and branch predictors are cold.
    for server in servers { _ = try sample(load, server, placement, seconds: 0.3) }
    library?.warmUp { _ = try sample(load, $0, placement, seconds: 0.3) }
    var samples: [BenchSample] = []
    var rates: [Double] = []
    for _ in 0..<pairs {
      let below = try sample(load, floor, placement)
      let sample = try sample(load, relay, placement)
      row.fault = row.fault ?? below.fault.map { "floor: \($0)" } ?? sample.fault
      row.pairs.append(
        .init(floor: below.deliveriesPerCPUSecond, relay: sample.deliveriesPerCPUSecond))
      samples.append(sample)
      library?.add { try deliveries(load, $0) }
      if let single {
        rates.append(try self.sample(load, single, placement).result.deliveriesPerSecond)
      }
    }
    describe(&row, samples)
    if let two = BenchRow.median(samples.map(\.result.deliveriesPerSecond)),
      let one = BenchRow.median(rates), one > 0
    {
      row.details.append(.init("deliveries / s, one loop", one))
      row.notes.append(
        "\(BenchTable.figure(two, .deliveries)) deliveries / s with two loops,"
          + " \(BenchTable.figure(one, .deliveries)) with one: \(BenchTable.figure(two / one, .times)) ×"
      )
    }
    servers.forEach { $0.stop() }
    if let peer = library?.end() { row.peers.append(peer) }
    if !row.isShared { row.peers += peers(load, bytes) }
  }

  private func sample(
    _ load: BenchLoad, _ server: BenchServer, _ placement: BenchPlacement, seconds: Double? = nil
  ) throws -> BenchSample {
    guard let plan = plan(load, server, seconds: seconds) else {
      throw Failure(description: "\(server.program.name) has no echo")
    }
    return try BenchSample(plan, server, processor: placement.load)
  }

  func deliveries(
    _ load: BenchLoad, _ server: BenchServer
  ) throws -> (figure: Double, fault: String?) {
    let run = try sample(load, server, .apart)
    return (run.deliveriesPerCPUSecond, run.fault)
  }

  private func describe(_ row: inout BenchRow, _ samples: [BenchSample]) {
    func median(_ name: String, _ figure: (BenchSample) -> Double) {
      if let value = BenchRow.median(samples.map(figure)) { row.details.append(.init(name, value)) }
    }
    median("deliveries / s") { $0.result.deliveriesPerSecond }
    median("deliver p50, ms") { $0.result.latencies.milliseconds(.deliver, .p50) ?? 0 }
    median("deliver p99, ms") { $0.result.latencies.milliseconds(.deliver, .p99) ?? 0 }
    median("log threads, share of CPU") { $0.logSeconds / max($0.serverSeconds, 1e-9) }
    median("ksoftirqd, share") { $0.kernelThreadSeconds / max($0.serverSeconds, 1e-9) }
    median("load, cores") { $0.result.ownCores }
    if !row.isShared, samples.contains(where: \.result.isSaturated) {
      row.notes.append("the load generator was the limit: the server could have done more")
    }
  }

  /// Measures the peers once each.
  private func peers(_ load: BenchLoad, _ bytes: Int) -> [BenchRow.Peer] {
    peers(bytes) { server in
      guard var plan = plan(load, server, seconds: 0.3) else { return nil }
      _ = try BenchSample(plan, server, processor: BenchPlacement.apart.load)
      plan.seconds = seconds
      name(&plan, server)
      let sample = try BenchSample(plan, server, processor: BenchPlacement.apart.load)
      return (sample.deliveriesPerCPUSecond, sample.fault ?? "")
    }
  }

  /// Starts the library; `nil` if it is not to be measured.
  func libraryRuns(_ bytes: Int) -> LibraryRuns? {
    hasLibrary
      ? LibraryRuns { try start(.library(places, deliveryBytes: bytes)) } : nil
  }

  /// - Parameters:
  ///   - withLibrary: Whether the library is measured like the others, once.
  ///   - measure: Returns `nil` if the server does not support the load.
  func peers(
    _ bytes: Int, withLibrary: Bool = false,
    _ measure: (BenchServer) throws -> (figure: Double, note: String)?
  ) -> [BenchRow.Peer] {
    guard settings.withPeers else { return [] }
    let library =
      withLibrary && hasLibrary ? [BenchProgram.library(places, deliveryBytes: bytes)] : []
    let programs = library + BenchProgram.peers(places, deliveryBytes: bytes)
    return programs.compactMap { program in
      guard program.isPresent else {
        return .init(name: program.name, figure: nil, note: "not installed")
      }
      do {
        let server = try start(program)
        return try measure(server).map {
          .init(name: program.name, figure: $0.figure, note: $0.note)
        }
      } catch {
        return .init(name: program.name, figure: nil, note: "\(error)")
      }
    }
  }
}
