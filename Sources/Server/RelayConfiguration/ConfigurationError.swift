/// Everything that is wrong with a configuration; its description is one line for each problem.
public struct ConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
  /// In the order in which they were found; never empty.
  public var problems: [Problem]

  /// The problems' sentences, a line each.
  public var description: String {
    problems.map(\.description).joined(separator: "\n")
  }
}

extension ConfigurationError {
  /// One thing that is wrong: where, which key, what was found, what is expected.
  public struct Problem: Equatable, Sendable, CustomStringConvertible {
    /// Where it stands.
    public var place: Place
    /// The key as that place spells it: `limits.burst`, `RELAY_LIMITS_BURST`, `--listen`.
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

  /// Where a setting comes from.
  public enum Place: Equatable, Sendable, CustomStringConvertible {
    /// A file, and the line in it if one is to blame.
    case file(String, line: Int?)
    /// A `RELAY_` variable.
    case environment
    /// A flag.
    case commandLine
    /// Nobody set it.
    case defaults

    /// `FILE:LINE`, or the kind of place.
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
