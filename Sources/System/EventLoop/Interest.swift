/// The events that a registration waits for.
public struct Interest: OptionSet, Hashable, Sendable {
  /// One bit per event.
  public let rawValue: UInt8

  /// The set with these bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// There is data to read or a client to accept, or the peer has stopped sending.
  public static let readable = Interest(rawValue: 1)
  /// Data can be sent, or a connection is established.
  public static let writable = Interest(rawValue: 2)
  /// Reported once per change (`EPOLLET`) instead of in every turn while the condition holds.
  ///
  /// The handler must then read (or send) until the socket would block.
  public static let edgeTriggered = Interest(rawValue: 4)
}
