internal import EventLoop
internal import Glibc
internal import Platform
internal import TLS
internal import WebSocket

/// One connection of a raw load. It is small while it only listens, because there may be many.
struct RawConnection {
  enum Phase {
    case none
    case connecting
    case handshaking(ClientHandshake)
    /// The index of the next step of the prelude.
    case joining(step: Int)
    case open
    case closed
  }

  var phase = Phase.none
  let room: Int
  /// Whether its deliveries determine when the room's next message is sent.
  var isWatcher = false
  /// Whether it fills a room without being one of the measured members.
  var isFiller = false
  var socket = BorrowedSocket(descriptor: -1)
  /// `nil` = without TLS.
  var tls: TLSChannel?
  var registration: Registration?
  var startedAt: UInt64 = 0
  /// When it sent the last message of the prelude; 0 if that is answered.
  var askedAt: UInt64 = 0
  var cut = FrameCut()
  /// The server's messages before it is a member.
  var received: [UInt8] = []
  var output: [UInt8] = []
  var isDirty = false
  /// The socket has not accepted all output.
  var waitsToWrite = false

  init(room: Int) { self.room = room }

  var isOpen: Bool { if case .open = phase { true } else { false } }
  var isClosed: Bool { if case .closed = phase { true } else { false } }

  /// Whether output waits for the server's part of the TLS handshake, and not for the socket.
  var isShakingHands: Bool { tls.map { $0.state == .handshaking && !$0.hasBacklog } ?? false }

  /// Whether something waits for the socket, or for the end of the TLS handshake.
  var hasOutput: Bool { !output.isEmpty || tls?.hasBacklog == true }

  /// Sends output, with TLS after the handshake.
  func sendOutput() -> SendResult {
    guard let tls else { return socket.send(output.span) }
    let written =
      tls.state == .handshaking
      ? tls.flush(to: socket).map { _ in 0 } : tls.write(output.span, to: socket)?.taken
    guard let written else { return .failed(SystemError("TLS", code: ECONNRESET)) }
    return .sent(written)
  }

  /// Reads once, and decrypts all of it.
  func read(into buffer: inout MutableSpan<UInt8>) -> ReadResult {
    tls?.read(from: socket, into: &buffer).plaintext ?? socket.read(into: &buffer)
  }

  /// Why the TLS session cannot be used; `nil` if it can.
  var failure: TLSFailure? { if case .failed(let failure) = tls?.state { failure } else { nil } }
}

/// A connection that publishes.
struct RawSender {
  let connection: Int
  var frame: RawFrame
  /// The send times of unacknowledged messages; from `acked` on.
  var times: [UInt64] = []
  var acked = 0

  /// Removes and returns the time of the oldest unanswered send.
  mutating func answered() -> UInt64? {
    guard acked < times.count else { return nil }
    let time = times[acked]
    acked += 1
    if acked >= 4096, acked * 2 > times.count {
      times.removeFirst(acked)
      acked = 0
    }
    return time
  }
}

/// A room's publishers, who send in turn.
struct RawRoom {
  let members: Int
  var senders: Range<Int>
  var next: Int
  /// The number of messages that it may still send, in a fill.
  var left = Int.max

  init(members: Int, senders: Range<Int>) {
    self.members = members
    self.senders = senders
    next = senders.lowerBound
  }

  /// Returns the next sender; there must be one.
  mutating func takeTurn() -> Int {
    let sender = next
    next = sender + 1 == senders.upperBound ? senders.lowerBound : sender + 1
    return sender
  }
}
