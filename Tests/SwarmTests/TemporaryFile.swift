import Glibc

@testable import Swarm

/// A file that goes with the test.
final class TemporaryFile {
  let path: String

  init() throws {
    var template = Array("/tmp/swarm-test.XXXXXX".utf8CString)
    let descriptor = unsafe mkstemp(&template)
    guard descriptor >= 0 else { throw Unexpected("mkstemp: \(errno)") }
    close(descriptor)
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  var text: String {
    get throws { String(decoding: try TextFile.read(path), as: UTF8.self) }
  }

  deinit { unsafe unlink(path) }
}
