/// Names a descriptor that a loop watches, for as long as it is registered.
///
/// It carries a generation since the kernel hands out the numbers of closed descriptors again:
/// an event for a registration that has ended is dropped, even if the number lives on.
public struct Registration: Hashable, Sendable {
  let index: UInt32
  let generation: UInt32

  init(index: UInt32, generation: UInt32) {
    self.index = index
    self.generation = generation
  }

  /// What goes through the kernel and comes back with the event.
  var key: UInt64 { UInt64(generation) << 32 | UInt64(index) }

  init(key: UInt64) {
    index = UInt32(truncatingIfNeeded: key)
    generation = UInt32(truncatingIfNeeded: key >> 32)
  }
}

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
