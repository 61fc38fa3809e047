/// All errors in a configuration file.
public struct SettingsError: Error, Equatable, Sendable, CustomStringConvertible {
  public struct Problem: Equatable, Sendable {
    /// From 1.
    public var line: Int
    /// The full path of a key; empty if the error concerns none.
    public var key: String
    /// What is wrong, and what is allowed.
    public var text: String
  }

  /// The name that was passed to the reader.
  public var file: String
  /// In the order of the file; never empty.
  public var problems: [Problem]

  /// A line for each: `config.yaml:7: theme: "drak" is not one of auto, dark, light`.
  public var description: String {
    problems.map { "\(file):\($0.line): \($0.key)\($0.key.isEmpty ? "" : ": ")\($0.text)" }
      .joined(separator: "\n")
  }
}
