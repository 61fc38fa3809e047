/// Empty buffers for the outboxes of sessions: so an idle session owns none, and a busy one does
/// not have to grow its own each time.
struct SpareBuffers {
  private static let bufferBytes = 2048
  /// Together at most half a MiB.
  private static let limit = 256

  private var buffers: [[UInt8]] = []

  mutating func take() -> [UInt8] { buffers.popLast() ?? [] }

  /// Keeps a buffer that is not large.
  mutating func put(_ buffer: consuming [UInt8]) {
    guard buffer.capacity <= Self.bufferBytes, buffers.count < Self.limit else { return }
    buffer.removeAll(keepingCapacity: true)
    buffers.append(buffer)
  }
}
