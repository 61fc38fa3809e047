import Glibc
import Platform

/// Buffered output: one write(2) per turn of the loop.
///
/// The descriptor is used as it was inherited: it may be shared with a shell, which does not expect
/// it to become non-blocking. A slow reader therefore slows the program down, as intended.
struct Output {
  /// The result of a write.
  enum Outcome {
    case done
    /// The reader has closed.
    case closed
    case failed(SystemError)
  }

  let descriptor: Int32
  private var bytes: [UInt8] = []

  /// At this size the buffer is flushed before the end of the turn.
  static let flushBytes = 64 * 1024

  init(descriptor: Int32) { self.descriptor = descriptor }

  var isFull: Bool { bytes.count >= Self.flushBytes }

  mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

  mutating func append(_ text: some Collection<UInt8>) { bytes.append(contentsOf: text) }

  mutating func flush() -> Outcome {
    var start = 0
    defer { bytes.removeAll(keepingCapacity: true) }
    while start < bytes.count {
      let count = unsafe bytes.span.extracting(start..<bytes.count)
        .withUnsafeBufferPointer { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        start += count
        continue
      }
      switch errno {
      case EINTR: break
      case EAGAIN: waitUntilWritable()
      case EPIPE: return .closed
      default: return .failed(SystemError.last("write"))
      }
    }
    return .done
  }

  /// Waits; needed if the descriptor was non-blocking when it was inherited.
  private func waitUntilWritable() {
    var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    _ = unsafe poll(&request, 1, -1)
  }
}
