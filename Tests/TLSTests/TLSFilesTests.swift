import TLS
import TestSupport
import Testing

@Suite struct `TLS files` {
  let certificates: Certificates

  init() throws { certificates = try Certificates() }

  private func complaint(_ certificate: String, _ key: String) -> String {
    do throws(TLSFileError) {
      _ = try TLSContext(certificate: certificates[certificate], key: certificates[key])
      return ""
    } catch {
      return "\(error)".replacing("\(certificates.folder.path)/", with: "")
    }
  }

  @Test func `a pair that belongs together is accepted`() {
    #expect(complaint("server.pem", "server.key") == "")
  }

  @Test func `an error of a pair is reported in a sentence that names the file`() throws {
    #expect(
      complaint("none.pem", "server.key")
        == "The certificate none.pem cannot be opened: No such file or directory.")
    #expect(
      complaint("server.pem", "none.key")
        == "The key none.key cannot be opened: No such file or directory.")
    #expect(complaint("server.pem", "") == "The key  cannot be read: Is a directory.")
    #expect(
      complaint("server.pem", "renewed.key")
        == "The key renewed.key does not belong to the certificate server.pem (key values mismatch)."
    )
    #expect(
      complaint("server.key", "server.key")
        == "The certificate server.key holds no certificate in PEM form (no start line).")
    #expect(
      complaint("server.pem", "server.pem").hasPrefix(
        "The key server.pem holds no private key in PEM form"))
    #expect(
      complaint("server.pem", "locked.key")
        == "The key locked.key has a passphrase; remove it with `openssl pkey`."
    )
    #expect(
      complaint("expired.pem", "expired.key").hasPrefix(
        "The certificate expired.pem expired on 20"))
    try certificates.folder.write("-----BEGIN CERTIFICATE-----\nAAAA\n", to: "broken.pem")
    #expect(
      complaint("broken.pem", "server.key").hasPrefix(
        "The certificate broken.pem holds no certificate in PEM form"))
  }

  @Test func `a part of a file that would not be used is an error`() throws {
    let key = try certificates.folder.read("server.key")
    let certificate = try certificates.folder.read("server.pem")
    let other = try certificates.folder.read("renewed.key")
    try certificates.folder.write(key + other, to: "keys.key")
    #expect(
      complaint("server.pem", "keys.key")
        == "The key keys.key holds 2 private keys, of which one would be used; keep only that.")
    try certificates.folder.write(key + certificate, to: "mixed.key")
    #expect(
      complaint("server.pem", "mixed.key")
        == "The key mixed.key also holds a block that is not used there, CERTIFICATE; remove it.")
    try certificates.folder.write(certificate + key, to: "mixed.pem")
    #expect(
      complaint("mixed.pem", "server.key").hasPrefix(
        "The certificate mixed.pem also holds a block that is not used there, "))
    // One file for both uses all of it.
    #expect(complaint("mixed.pem", "mixed.pem") == "")
    try certificates.folder.write(certificate + certificate, to: "chain.pem")
    #expect(complaint("chain.pem", "server.key") == "")
  }

  @Test func `a list of authorities that cannot be used is named`() {
    let error = #expect(throws: TLSFileError.self) {
      try TLSContext(trusting: .authorities(file: certificates["server.key"]))
    }
    #expect(error?.description.contains("server.key holds no certificate in PEM form") == true)
  }
}
