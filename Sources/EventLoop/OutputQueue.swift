internal import CLinux
internal import Glibc
public import Mailbox

/// What came of flushing.
public enum FlushResult: Sendable {
  /// The queue is empty; that many bytes were taken.
  case flushed(Int)
  /// The socket takes no more; wait for `writable`. That many bytes were taken.
  case blocked(Int)
  /// The connection is gone, and the rest of the queue is of no use.
  case failed(SystemError)
}

/// Bytes that wait for one socket, bounded: ranges of shared buffers, and bytes of its own.
///
/// A range of a shared buffer costs 40 bytes and a reference, whoever else queues it. An empty
/// queue keeps no memory. Confined to the thread of its connection.
public struct OutputQueue {
  /// No more bytes than this are accepted.
  public let limitBytes: Int
  /// Bytes that wait.
  public private(set) var count = 0

  private struct Segment {
    var bytes: [UInt8]
    var start: Int
    var end: Int
    /// Bytes of the queue's own, which may grow at the end.
    var isOwn: Bool
  }

  private var segments: [Segment] = []
  /// Segments before this one are gone.
  private var head = 0

  /// Linux takes up to 1,024 (`IOV_MAX`); beyond a few dozen a call costs as much as two.
  private static let piecesPerCall = 64

  /// An empty queue.
  public init(limitBytes: Int) {
    self.limitBytes = limitBytes
  }

  /// Whether nothing waits.
  public var isEmpty: Bool { count == 0 }

  /// How many more bytes are accepted.
  public var roomBytes: Int { max(0, limitBytes - count) }

  /// Queues a range of a buffer that others may queue as well; it is not copied.
  ///
  /// The whole buffer stays in memory for as long as any of its ranges waits.
  /// - Returns: false if there is no room for all of it; nothing is queued then.
  public mutating func append(sharing buffer: [UInt8], _ range: Range<Int>) -> Bool {
    precondition(range.lowerBound >= 0 && range.upperBound <= buffer.count)
    guard range.count <= roomBytes else { return false }
    if range.isEmpty { return true }
    segments.append(
      Segment(bytes: buffer, start: range.lowerBound, end: range.upperBound, isOwn: false))
    count += range.count
    return true
  }

  /// Queues a copy of `bytes`.
  ///
  /// - Returns: false if there is no room for all of it; nothing is queued then.
  public mutating func append(copying bytes: Span<UInt8>) -> Bool {
    guard bytes.count <= roomBytes else { return false }
    if bytes.isEmpty { return true }
    if segments.isEmpty || !segments[segments.count - 1].isOwn {
      segments.append(Segment(bytes: [], start: 0, end: 0, isOwn: true))
    }
    let last = segments.count - 1
    unsafe bytes.withUnsafeBufferPointer { unsafe segments[last].bytes.append(contentsOf: $0) }
    segments[last].end += bytes.count
    count += bytes.count
    return true
  }

  /// Forgets everything.
  public mutating func removeAll() {
    segments = []
    head = 0
    count = 0
  }

  /// Sends as much as the socket takes, up to 64 segments a call.
  public mutating func flush(to socket: BorrowedSocket) -> FlushResult {
    var taken = 0
    while !isEmpty {
      let (result, offered) = sendFront(to: socket)
      switch result {
      case .sent(let bytes):
        taken += bytes
        consume(bytes)
        // A short write means that the socket is full: the next call would only say so.
        if bytes < offered { return .blocked(taken) }
      case .wouldBlock: return .blocked(taken)
      case .failed(let error): return .failed(error)
      }
    }
    return .flushed(taken)
  }

  private mutating func consume(_ bytes: Int) {
    count -= bytes
    if count == 0 {
      removeAll()
      return
    }
    var left = bytes
    while left > 0 {
      let size = segments[head].end - segments[head].start
      if left < size {
        segments[head].start += left
        break
      }
      left -= size
      // A shared buffer must not wait for the rest of the queue to be let go.
      segments[head].bytes = []
      head += 1
    }
    dropFront()
  }

  private mutating func dropFront() {
    // Each byte of a segment is moved or dropped once per doubling: linear in all.
    if head > 16, head > segments.count / 2 {
      segments.removeFirst(head)
      head = 0
    }
    // Its own bytes may grow without end while a slow peer takes them from the front.
    if segments[head].isOwn, segments[head].start > max(4096, segments[head].bytes.count / 2) {
      segments[head].bytes.removeFirst(segments[head].start)
      segments[head].end -= segments[head].start
      segments[head].start = 0
    }
  }

  private func sendFront(to socket: BorrowedSocket) -> (SendResult, offered: Int) {
    let pieces = min(segments.count - head, Self.piecesPerCall)
    if pieces == 1 {
      let segment = segments[head]
      let bytes = segment.bytes.span.extracting(segment.start..<segment.end)
      return (socket.send(bytes), bytes.count)
    }
    return unsafe withUnsafeTemporaryAllocation(of: iovec.self, capacity: pieces) { vector in
      unsafe send(to: socket, vector, filled: 0, offered: 0)
    }
  }

  /// Fills in one piece and goes on to the next: nested, since an array's memory is only known to
  /// stay where it is within a closure's scope. At most 64 deep.
  private func send(
    to socket: BorrowedSocket, _ vector: UnsafeMutableBufferPointer<iovec>, filled: Int,
    offered: Int
  ) -> (SendResult, offered: Int) {
    guard filled < vector.count else {
      let count = unsafe clinux_send_vector(socket.descriptor, vector.baseAddress, filled)
      return (SendResult(count, call: "sendmsg"), offered)
    }
    let segment = segments[head + filled]
    let size = segment.end - segment.start
    return unsafe segment.bytes.withUnsafeBufferPointer { bytes in
      let start = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress)
      unsafe vector[filled] = iovec(iov_base: start?.advanced(by: segment.start), iov_len: size)
      return unsafe send(to: socket, vector, filled: filled + 1, offered: offered + size)
    }
  }
}
