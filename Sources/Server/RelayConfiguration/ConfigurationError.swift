/// All errors of a configuration; its description has one line per error.
public struct ConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The errors in the order in which they were found; never empty.
  public var problems: [Problem]

  /// One line per problem.
  public var description: String {
    problems.map(\.description).joined(separator: "\n")
  }
}

extension ConfigurationError {
  /// One error: where, which key, what was found, what is expected.
  public struct Problem: Equatable, Sendable, CustomStringConvertible {
    /// The place of the setting.
    public var place: Place
    /// The key as it is spelled in that place: `limits.burst`, `RELAY_LIMITS_BURST`, `--listen`.
    public var key: String
    /// What was found, as a predicate: `is "many"`, `is not a known key`.
    public var found: String
    /// What is expected, or what to do.
    public var expected: String

    /// A sentence: `relay.yaml:4: limits.burst is "many"; expected a whole number from 0 to 9`.
    public var description: String {
      "\(place): \(key)\(key.isEmpty ? "" : " ")\(found)\(expected.isEmpty ? "" : "; ")\(expected)"
    }
  }

  /// The source of a setting.
  public enum Place: Equatable, Sendable, CustomStringConvertible {
    /// A file, and the line in it if known.
    case file(String, line: Int?)
    /// A `RELAY_` variable.
    case environment
    /// A flag.
    case commandLine
    /// A default.
    case defaults

    /// `FILE:LINE`, or the name of the source.
    public var description: String {
      switch self {
      case .file(let file, let line?): "\(file):\(line)"
      case .file(let file, nil): file
      case .environment: "environment"
      case .commandLine: "command line"
      case .defaults: "defaults"
      }
    }
  }
}
