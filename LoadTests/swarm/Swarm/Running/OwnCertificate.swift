internal import Platform

/// A certificate for this machine that vouches for itself, and its key, as files.
struct OwnCertificate: Sendable {
  let path: String
  let keyPath: String

  /// Makes the files with `openssl`: a P-256 key, as most servers have.
  init(in folder: String) throws(SystemError) {
    path = "\(folder)/certificate.pem"
    keyPath = "\(folder)/key.pem"
    let log = "\(folder)/openssl.log"
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
  }
}
