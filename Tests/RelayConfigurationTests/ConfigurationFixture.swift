import Glibc
import RelayConfiguration
import Testing

/// A configuration file that lives as long as a test does.
struct ConfigurationFixture: ~Copyable {
  let path: String

  init(_ yaml: String) throws {
    path = try Self.write(Array(yaml.utf8))
  }

  private static func write(_ bytes: [UInt8]) throws -> String {
    var template = Array("/tmp/relay-configuration-XXXXXX".utf8CString)
    let descriptor = unsafe mkstemp(&template)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let written = unsafe bytes.withUnsafeBytes {
      unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
    }
    try #require(written == bytes.count)
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    unsafe unlink(path)
  }

  /// The configuration that the file gives, or everything that is wrong with it, a sentence each
  /// and without the file's name.
  func load(
    _ environment: [String: String] = [:],
    overrides: Configuration.Overrides = Configuration.Overrides()
  ) -> Result<Configuration, Sentences> {
    do throws(ConfigurationError) {
      return .success(
        try Configuration.load(file: path, environment: environment, overrides: overrides))
    } catch {
      let sentences = error.description.split(separator: "\n").map { line in
        line.hasPrefix(path) ? String(line.dropFirst(path.count)) : String(line)
      }
      return .failure(Sentences(sentences))
    }
  }
}

/// What a person is told.
struct Sentences: Error, Equatable, CustomStringConvertible {
  var lines: [String]

  init(_ lines: [String]) {
    self.lines = lines
  }

  var description: String { lines.joined(separator: "\n") }
}

/// What is wrong with `yaml`.
func complaints(about yaml: String, _ environment: [String: String] = [:]) throws -> [String] {
  switch try ConfigurationFixture(yaml).load(environment) {
  case .success: []
  case .failure(let sentences): sentences.lines
  }
}

/// A file of the project, by its path from the top.
func project(_ path: String) -> String {
  let here = #filePath.split(separator: "/").dropLast(3)
  return "/\(here.joined(separator: "/"))/\(path)"
}
