import Glibc
import Testing

/// Certificates of a test's own, made by the openssl command; see Tests/certificates.
final class Certificates: Sendable {
  let folder: String

  init() throws {
    var template = Array("/tmp/relay-certificates-XXXXXX".utf8CString)
    let made = unsafe template.withUnsafeMutableBufferPointer { characters in
      let made = unsafe characters.baseAddress.flatMap { unsafe mkdtemp($0) }
      return unsafe made.map { unsafe String(cString: $0) }
    }
    folder = try #require(made)
    let here = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
    let status = unsafe system("'/\(here)/certificates' '\(folder)'")
    try #require(status == 0, "openssl is missing?")
  }

  deinit { _ = unsafe system("rm -rf '\(folder)'") }

  subscript(name: String) -> String { "\(folder)/\(name)" }

  func write(_ text: String, to name: String) throws -> String {
    let descriptor = unsafe open(self[name], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    try #require(unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    return self[name]
  }
}
