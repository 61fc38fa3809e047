internal import Platform

/// Rows with TLS: relay and library in turn. The floor has none, and the other peers are set up without.
extension Bench {
  /// - Parameter run: measures once; its first run on a server does not count.
  func measureSecured(
    _ row: BenchRow, _ run: (BenchServer) throws -> (figure: Double, fault: String?)
  ) throws -> BenchRow {
    var row = row
    let bytes = try deliveryBytes()
    let certificate: OwnCertificate
    do throws(SystemError) {
      certificate = try OwnCertificate(in: temporaryFolder)
    } catch {
      throw Bench.Failure(description: "\(error)")
    }
    let relay = try start(.relay(places).secured(by: certificate))
    defer { relay.stop() }
    var library =
      hasLibrary
      ? LibraryRuns {
        try start(.library(places, deliveryBytes: bytes).secured(by: certificate))
      } : nil
    _ = try run(relay)
    library?.warmUp { _ = try run($0) }
    var figures: [Double] = []
    for _ in 0..<pairs {
      let measured = try run(relay)
      row.fault = row.fault ?? measured.fault
      figures.append(measured.figure)
      library?.add(run)
    }
    row.alone = BenchRow.median(figures)
    if let peer = library?.end() { row.peers.append(peer) }
    return row
  }
}
