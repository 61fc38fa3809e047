import TestSupport

extension Certificates {
  /// The pair that a relay is given, so that another can take its place.
  func use(_ certificate: String, key: String) throws {
    try run("cp", folder["\(certificate).pem"], folder["used.pem"])
    try run("cp", folder["\(key).key"], folder["used.key"])
  }

  /// The configuration of a relay that uses it.
  var configuration: String {
    "tls: { certificate: \(folder["used.pem"]), key: \(folder["used.key"]) }"
  }
}
