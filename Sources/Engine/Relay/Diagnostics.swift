/// What a loop tells the operator's log: at `info` who signed in, who was refused and which sessions
/// ended; at `debug` also its connections and decisions, and at `trace` its messages. A report contains
/// no text of an entry and no token.
///
/// The level is checked before a report is built, so that reports cost nothing while it is `off`.
/// Shared by a loop and its shard; confined to their thread.
public final class Diagnostics {
  public enum Level: UInt8, Comparable, Sendable {
    case off, warning, notice, info, debug, trace

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
  }

  public var level = Level.off
  /// Writes a report about a connection, named by the number of its stream.
  public var write: (Level, Int, String, [LogField]) -> Void = { _, _, _, _ in }
  private let quota: LineQuota

  /// - Parameter quota: bounds the lines at `info`; all loops share one.
  public init(_ quota: LineQuota = LineQuota()) { self.quota = quota }

  /// Reports an event that clients cause, as often as its quota allows; at lower levels always.
  /// - Parameters:
  ///   - connection: the number of its stream.
  ///   - message: a sentence that is the same for all events of its kind.
  @inline(__always)
  public func info(
    _ kind: LineQuota.Kind, _ connection: some BinaryInteger, now: Moment, _ message: String,
    _ fields: @autoclosure () -> [LogField]
  ) {
    guard level >= .info, level > .info || quota.admits(kind, now: now.monotonic) else { return }
    write(.info, Int(connection), message, fields())
  }

  /// Reports what happens to a connection, or what is decided about it.
  @inline(__always)
  public func debug(
    _ connection: some BinaryInteger, _ message: String,
    _ fields: @autoclosure () -> [LogField] = []
  ) {
    if level >= .debug { write(.debug, Int(connection), message, fields()) }
  }

  /// Reports a message.
  @inline(__always)
  public func trace(
    _ connection: some BinaryInteger, _ message: String,
    _ fields: @autoclosure () -> [LogField] = []
  ) {
    if level >= .trace { write(.trace, Int(connection), message, fields()) }
  }
}

/// A part of an event that differs between events of a kind, with its name in the operator's log.
public struct LogField: Equatable, Sendable {
  public enum Value: Equatable, Sendable {
    case text(String)
    case number(Int64)
  }

  public var name: String
  public var value: Value

  public init(_ name: String, _ text: some StringProtocol) {
    self.name = name
    value = .text(String(text))
  }

  public init(_ name: String, _ number: some BinaryInteger) {
    self.name = name
    value = .number(Int64(clamping: number))
  }
}
