import Glibc

/// Reads a configuration file.
package enum ConfigurationFile {
  package struct Failure: Error {
    package var found: String
    package var expected: String
  }

  /// Larger than any configuration; stops the reading of a device or log named by mistake.
  package static let limitBytes = 1_048_576

  /// Blocks.
  package static func read(_ path: String) throws(Failure) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw refusal("cannot be opened") }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe chunk.withUnsafeMutableBytes { buffer in
        unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw refusal("cannot be read") }
      if count == 0 { return bytes }
      bytes += chunk[..<count]
      guard bytes.count <= limitBytes else {
        throw Failure(
          found: "is larger than \(limitBytes) bytes", expected: "expected a configuration file")
      }
    }
  }

  private static func refusal(_ found: String) -> Failure {
    let reason = unsafe String(cString: strerror(errno))
    return Failure(
      found: "\(found): \(reason)", expected: "use a file that exists and is readable")
  }
}
