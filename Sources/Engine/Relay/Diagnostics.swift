/// What a loop reports at the levels `debug` and `trace` of the operator's log: its connections and
/// decisions, and at `trace` its messages, too. A report contains no text of an entry and no token.
///
/// The level is checked before a report is built, so that reports cost nothing while it is `off`.
/// Shared by a loop and its shard; confined to their thread.
public final class Diagnostics {
  public enum Level: UInt8, Comparable, Sendable {
    case off, debug, trace

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
  }

  public var level = Level.off
  private let write: (Level, String) -> Void

  /// - Parameter write: writes a line.
  public init(_ write: @escaping (Level, String) -> Void) { self.write = write }

  /// Reports what happens to a connection, or what is decided about it.
  /// - Parameter connection: the number of its stream.
  @inline(__always)
  public func debug(_ connection: some BinaryInteger, _ text: @autoclosure () -> String) {
    if level >= .debug { write(.debug, "connection \(connection): \(text())") }
  }

  /// Reports a message.
  @inline(__always)
  public func trace(_ connection: some BinaryInteger, _ text: @autoclosure () -> String) {
    if level >= .trace { write(.trace, "connection \(connection): \(text())") }
  }
}
