import Glibc

/// Certificates of a test's own, made by Tests/certificates; gone with this object.
final class Certificates {
  private let folder: String

  init() throws {
    var template = Array("/tmp/relay-certificates-XXXXXX".utf8CString)
    let made = unsafe template.withUnsafeMutableBufferPointer { characters in
      let made = unsafe characters.baseAddress.flatMap { unsafe mkdtemp($0) }
      return unsafe made.map { unsafe String(cString: $0) }
    }
    guard let made else { throw NotMade(code: errno) }
    folder = made
    let tests = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
    let status = unsafe system("'/\(tests)/certificates' '\(folder)'")
    guard status == 0 else { throw NotMade(code: status) }
  }

  /// Is openssl installed? `config/setup` knows how.
  struct NotMade: Error { let code: Int32 }

  deinit { _ = unsafe system("rm -rf '\(folder)'") }

  /// A server's certificate and its key.
  var pair: [String] { ["\(folder)/server.pem", "\(folder)/server.key"] }
  /// Who has signed it.
  var authority: String { "\(folder)/ca.pem" }
}
