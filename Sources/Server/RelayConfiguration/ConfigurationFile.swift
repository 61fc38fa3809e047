internal import Glibc
internal import Platform

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
    do throws(SystemError) {
      return try WholeFile.read(path, limitBytes: limitBytes)
    } catch {
      if error.code == EFBIG {
        throw Failure(
          found: "is larger than \(limitBytes) bytes", expected: "expected a configuration file")
      }
      let isOpened = !error.call.hasPrefix("open ")
      throw Failure(
        found: "cannot be \(isOpened ? "read" : "opened"): \(error.reason)",
        expected: "use a file that exists and is readable")
    }
  }
}
