internal import Platform

/// Rows with TLS: relay and library in turn. The floor has none, and the other peers are set up without.
extension Bench {
  /// - Parameter run: measures once; its first run on a server does not count.
  func measureSecured(
    _ row: BenchRow, _ run: (BenchServer) throws -> (figure: Double, fault: String?)
  ) throws -> BenchRow {
    var row = row
    let bytes = try deliveryBytes()
    let certificate = try BenchCertificate(in: temporaryFolder)
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

/// A certificate for this machine that vouches for itself, and its key, as files.
struct BenchCertificate: Sendable {
  let path: String
  let keyPath: String

  /// Makes the files with `openssl`: a P-256 key, as most servers have.
  init(in folder: String) throws(Bench.Failure) {
    path = "\(folder)/certificate.pem"
    keyPath = "\(folder)/key.pem"
    let log = "\(folder)/openssl.log"
    do throws(SystemError) {
      let id = try ChildProgram.start(
        [
          "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
          "-nodes", "-days", "2", "-subj", "/CN=swarm", "-addext",
          "subjectAltName=IP:127.0.0.1", "-keyout", keyPath, "-out", path,
        ], input: .null, output: .appending(log), errors: .appending(log))
      guard ChildProgram.wait(for: id) == .exit(0) else {
        let lines = String(decoding: (try? TextFile.read(log)) ?? [], as: UTF8.self)
        throw SystemError("openssl req: \(lines.split(separator: "\n").last ?? "")", code: 0)
      }
    } catch {
      throw Bench.Failure(description: "cannot make a certificate: \(error)")
    }
  }
}
