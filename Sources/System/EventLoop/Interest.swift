/// What a registration waits for.
public struct Interest: OptionSet, Hashable, Sendable {
  /// One bit for each thing to wait for.
  public let rawValue: UInt8

  /// The set with these bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// There is something to read or accept, or the peer has stopped sending.
  public static let readable = Interest(rawValue: 1)
  /// There is room for something to be sent, or a connection stands.
  public static let writable = Interest(rawValue: 2)
  /// Told once per change (`EPOLLET`), rather than in every turn for as long as it is so.
  ///
  /// The handler must then read (or send) until the socket would block.
  public static let edgeTriggered = Interest(rawValue: 4)
}
