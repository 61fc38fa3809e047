public import YAML

/// All errors of a scenario; prints one line for each.
public struct ScenarioError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The name that the user gave.
  public var file: String
  /// In the order in which they were found; never empty.
  public var faults: [YAMLDocument.Fault]

  /// `smoke.yaml:4: rooms[0].shape is "mani"; expected one, many, zipf or dms`, one line each.
  public var description: String {
    faults.map { fault in
      let key = fault.key.isEmpty ? "" : "\(fault.key) "
      let place = fault.line > 0 ? "\(file):\(fault.line)" : file
      return "\(place): \(key)\(fault.found); \(fault.expected)"
    }.joined(separator: "\n")
  }
}
