internal import WebSocket

/// The bytes of one read of a link, and how far they have been taken.
package struct LinkInput {
  package internal(set) var bytes: [UInt8]
  /// How many of them the last read has filled.
  package internal(set) var count = 0
  /// Where the bytes begin that have not been taken.
  package private(set) var offset = 0
  /// Whether the read filled all that it could, so that there may be more.
  package internal(set) var isFull = false
  /// The message that was taken last: in `bytes`, or where it was assembled.
  private var payload = Connection.Payload.assembled
  private var assembled: [UInt8] = []

  init(bytes: Int) { self.bytes = [UInt8](repeating: 0, count: bytes) }

  /// Passes the message that `Link.next` has returned last.
  package func withMessage(_ body: (Span<UInt8>) -> Void) {
    switch payload {
    case .input(let range): body(bytes.span.extracting(range))
    case .assembled: body(assembled.span)
    }
  }

  /// Counts bytes as taken that the owner of the link has processed itself.
  package mutating func skip(_ count: Int) { offset += count }

  mutating func begin(count: Int, isFull: Bool) {
    (self.count, self.isFull, offset) = (count, isFull, 0)
  }

  /// Takes the next event from a connection.
  mutating func next(
    _ connection: inout Connection, output: inout [UInt8], maskKey: () -> UInt32
  ) throws(ProtocolViolation) -> Connection.Event? {
    forgetMessage()
    var offset = offset
    // While the span lives, nothing else of this value can be accessed.
    let end = count
    var span = bytes.mutableSpan
    var input = span._mutatingExtracting(0..<end)
    let event = try connection.next(in: &input, at: &offset, output: &output, maskKey: maskKey)
    self.offset = offset
    if case .message(_, let payload) = event {
      self.payload = payload
      if case .assembled = payload { assembled = connection.assembled }
    }
    return event
  }

  /// Releases an assembled message, whose buffer belongs to the connection.
  mutating func forgetMessage() {
    guard case .assembled = payload else { return }
    assembled = []
  }
}
