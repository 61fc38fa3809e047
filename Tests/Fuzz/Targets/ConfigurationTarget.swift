import Glibc
import RelayConfiguration
import Server

/// Input: a configuration file.
enum ConfigurationTarget {
  static func check(_ yaml: ArraySlice<UInt8>) throws(FuzzFinding) {
    // It would be opened, whatever it is: a terminal, or a pipe without a writer.
    guard !contains(yaml, "bots_file") else { return }
    let configuration: Configuration
    do throws(ConfigurationError) {
      configuration = try load(Array(yaml))
    } catch {
      let lines = yaml.count { $0 == 10 || $0 == 13 } + separators(in: yaml) + 1
      return try check(error, lines: lines)
    }
    try checkDescribed(configuration)
  }

  /// The printed effective configuration can be loaded, and is the same.
  private static func checkDescribed(_ configuration: Configuration) throws(FuzzFinding) {
    // A secret is not printed.
    let directory = configuration.directory
    guard configuration.auth.secret.isEmpty, directory.token.isEmpty, directory.key.isEmpty,
      directory.secret.isEmpty, configuration.auth.keys.allSatisfy(\.secret.isEmpty)
    else { return }
    let described = configuration.described()
    let again: Configuration
    do throws(ConfigurationError) {
      again = try load(Array(described.utf8))
    } catch {
      throw FuzzFinding(description: "the printed configuration is refused: \(error)\n\(described)")
    }
    try expect(again == configuration, "the printed configuration is another one:\n\(described)")
  }

  /// Each problem is one line, and the lines of the file that it names exist.
  private static func check(
    _ error: ConfigurationError, lines: Int
  ) throws(FuzzFinding) {
    try expect(!error.problems.isEmpty, "it is refused without a reason")
    try expect(
      error.description.utf8.count { $0 == 10 } == error.problems.count - 1,
      "a problem is not one line: \(error)")
    for problem in error.problems {
      guard case .file(_, let line?) = problem.place else { continue }
      try expect(1...lines + 1 ~= line, "line \(line) of \(lines): \(problem)")
    }
  }

  /// YAML 1.1 counts lines at U+0085, U+2028 and U+2029 too.
  private static func separators(in yaml: ArraySlice<UInt8>) -> Int {
    String(decoding: yaml, as: UTF8.self).unicodeScalars.count {
      $0 == "\u{85}" || $0 == "\u{2028}" || $0 == "\u{2029}"
    }
  }

  /// Reads an unlinked file in memory.
  private static func load(_ yaml: [UInt8]) throws(ConfigurationError) -> Configuration {
    var name = Array("/dev/shm/relay-configuration-XXXXXX".utf8CString)
    let descriptor = unsafe mkstemp(&name)
    precondition(descriptor >= 0, "there is no room in /dev/shm")
    unsafe unlink(&name)
    defer { close(descriptor) }
    let written = unsafe yaml.withUnsafeBytes {
      unsafe write(descriptor, $0.baseAddress, $0.count)
    }
    precondition(written == yaml.count && lseek(descriptor, 0, SEEK_SET) == 0, "write failed")
    return try Configuration.load(file: "/proc/self/fd/\(descriptor)", environment: [:])
  }

  private static func contains(_ bytes: ArraySlice<UInt8>, _ word: String) -> Bool {
    bytes.firstRange(of: Array(word.utf8)) != nil
  }
}
