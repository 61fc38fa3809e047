import RelayConfiguration
import TestSupport

/// A configuration file that exists as long as a test runs.
struct ConfigurationFixture: ~Copyable {
  private let folder: TemporaryFolder
  var path: String { folder["relay.yaml"] }

  init(_ yaml: String) throws {
    let folder = try TemporaryFolder()
    try folder.write(yaml, to: "relay.yaml")
    self.folder = folder
  }

  /// The configuration of the file, or all its errors, one sentence each and without the
  /// file's name.
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

/// The message for a person.
struct Sentences: Error, Equatable, CustomStringConvertible {
  var lines: [String]

  init(_ lines: [String]) {
    self.lines = lines
  }

  var description: String { lines.joined(separator: "\n") }
}

/// The errors in `yaml`.
func complaints(about yaml: String, _ environment: [String: String] = [:]) throws -> [String] {
  switch try ConfigurationFixture(yaml).load(environment) {
  case .success: []
  case .failure(let sentences): sentences.lines
  }
}
