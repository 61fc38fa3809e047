/// What has happened to a descriptor.
public struct Readiness: OptionSet, Hashable, Sendable {
  /// One bit for each thing that happened.
  public let rawValue: UInt8

  /// The set with these bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Reading will not block; it may find the end.
  public static let readable = Readiness(rawValue: 1)
  /// Sending will not block.
  public static let writable = Readiness(rawValue: 2)
  /// The peer will send nothing more (`EPOLLRDHUP`), or the connection is gone (`EPOLLHUP`).
  ///
  /// What it sent before may still be waiting to be read.
  public static let closed = Readiness(rawValue: 4)
  /// The connection failed (`EPOLLERR`); reading or `takeError()` tells how.
  public static let failed = Readiness(rawValue: 8)
}
