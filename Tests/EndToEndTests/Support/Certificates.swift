/// Certificates of a test's own, made by the openssl command; see Tests/certificates.
final class Certificates {
  private let folder: Folder

  init() throws {
    folder = try Folder()
    let outcome = try Folder.run("\(Programs.package)/Tests/certificates", folder.path)
    guard outcome == .exit(0) else { throw Unexpected("no certificates: is openssl there?") }
  }

  /// What Tests/certificates calls it: `ca.pem`, `server.key`.
  subscript(name: String) -> String { folder[name] }

  var authority: String { folder["ca.pem"] }

  /// The pair that a relay is given, so that another can take its place.
  func use(_ certificate: String, key: String) throws {
    try Folder.run("cp", folder["\(certificate).pem"], folder["used.pem"])
    try Folder.run("cp", folder["\(key).key"], folder["used.key"])
  }

  /// The configuration of a relay that uses it.
  var configuration: String {
    "tls: { certificate: \(folder["used.pem"]), key: \(folder["used.key"]) }"
  }
}
