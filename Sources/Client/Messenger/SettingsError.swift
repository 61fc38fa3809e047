/// All that is wrong with a configuration file.
public struct SettingsError: Error, Equatable, Sendable, CustomStringConvertible {
  public struct Problem: Equatable, Sendable {
    /// Counted from 1.
    public var line: Int
    /// The whole path of a key; empty where none is to blame.
    public var key: String
    /// What is wrong, and what is possible.
    public var text: String
  }

  /// As the reader was told it.
  public var file: String
  /// In the order of the file; never empty.
  public var problems: [Problem]

  /// A line each: `config.yaml:7: theme: "drak" is none of auto, dark, light`.
  public var description: String {
    problems.map { "\(file):\($0.line): \($0.key)\($0.key.isEmpty ? "" : ": ")\($0.text)" }
      .joined(separator: "\n")
  }
}
