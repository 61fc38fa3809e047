/// The events of a descriptor.
public struct Readiness: OptionSet, Hashable, Sendable {
  /// One bit per event.
  public let rawValue: UInt8

  /// The set with these bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Reading does not block; it may return the end.
  public static let readable = Readiness(rawValue: 1)
  /// Sending does not block.
  public static let writable = Readiness(rawValue: 2)
  /// The peer will send nothing more (`EPOLLRDHUP`), or the connection is gone (`EPOLLHUP`).
  ///
  /// Data that it sent before may still have to be read.
  public static let closed = Readiness(rawValue: 4)
  /// The connection failed (`EPOLLERR`); reading or `takeError()` returns the error.
  public static let failed = Readiness(rawValue: 8)
}
