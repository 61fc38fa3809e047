/// The operator's log.
extension Configuration {
  /// The log levels, named as in swift-log.
  public enum LogLevel: String, CaseIterable, Sendable {
    case trace, debug, info, notice, warning, error, critical
  }

  /// The forms of the lines of the operator's log.
  public enum LogFormat: String, CaseIterable, Sendable {
    case text
    /// One object per line.
    case json
  }
}
