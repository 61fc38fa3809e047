import Glibc

/// Certificates of a test's own, made by Tests/certificates; gone with this object.
final class Certificates: Sendable {
  private let folder: String

  init() throws {
    var template = Array("/tmp/relay-certificates-XXXXXX".utf8CString)
    let made = unsafe template.withUnsafeMutableBufferPointer { characters in
      let made = unsafe characters.baseAddress.flatMap { unsafe mkdtemp($0) }
      return unsafe made.map { unsafe String(cString: $0) }
    }
    guard let made else { throw Unexpected("no folder") }
    folder = made
    let tests = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
    guard unsafe system("'/\(tests)/certificates' '\(folder)'") == 0 else {
      throw Unexpected("no certificates: is openssl there?")
    }
  }

  deinit { _ = unsafe system("rm -rf '\(folder)'") }

  subscript(name: String) -> String { "\(folder)/\(name)" }
}
