/// Empty buffers for the outboxes of sessions: so an idle session owns none, and a busy one does
/// not have to grow its own each time.
struct SpareBuffers {
  private static let newBytes = 512
  private static let bufferBytes = 2048
  /// Together at most 512 KiB: after thousands of connections had replies in one turn, as when
  /// they join, most of the buffers are of no use.
  private static let limit = 256
  /// The capacity of a large buffer, for all that one turn writes to a socket.
  private static let largeBytes = 2 * Shard.pageBytes

  private var buffers: [[UInt8]] = []
  /// How many were never taken since the last `trim`.
  private var unused = 0
  /// One large buffer; without capacity while it is taken.
  private var large: [UInt8] = []

  mutating func take() -> [UInt8] {
    if let buffer = buffers.popLast() {
      unused = min(unused, buffers.count)
      return buffer
    }
    var buffer: [UInt8] = []
    buffer.reserveCapacity(Self.newBytes)
    return buffer
  }

  mutating func takeLarge() -> [UInt8] {
    var buffer: [UInt8] = []
    swap(&buffer, &large)
    buffer.reserveCapacity(Self.largeBytes)
    return buffer
  }

  static func isLarge(_ buffer: [UInt8]) -> Bool { buffer.capacity >= largeBytes }

  /// Keeps a buffer if it is of use.
  mutating func put(_ buffer: consuming [UInt8]) {
    let capacity = buffer.capacity
    if capacity >= Self.largeBytes, capacity < 4 * Self.largeBytes, large.capacity == 0 {
      buffer.removeAll(keepingCapacity: true)
      large = buffer
    } else if capacity > 0, capacity <= Self.bufferBytes, buffers.count < Self.limit {
      buffer.removeAll(keepingCapacity: true)
      buffers.append(buffer)
    }
  }

  /// Frees the buffers that were not needed since the last call.
  mutating func trim() {
    buffers.removeLast(unused)
    unused = buffers.count
  }
}
