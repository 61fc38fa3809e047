internal import EventLoop
internal import Platform
internal import WebSocket

/// One connection of a raw load. As small as can be while it only listens: there may be many.
struct RawConnection {
  enum Phase {
    case none
    case connecting
    case handshaking(ClientHandshake)
    /// Of the prelude, this step is next.
    case joining(step: Int)
    case open
    case closed
  }

  var phase = Phase.none
  let room: Int
  /// Its deliveries tell how the room goes on.
  var isWatcher = false
  /// Fills a room, and is no member.
  var isFiller = false
  var socket = BorrowedSocket(descriptor: -1)
  var registration: Registration?
  var startedAt: UInt64 = 0
  var cut = FrameCut()
  /// What the server says before it is a member.
  var received: [UInt8] = []
  var output: [UInt8] = []
  var isDirty = false
  /// The socket has not taken all.
  var waitsToWrite = false

  init(room: Int) { self.room = room }

  var isOpen: Bool { if case .open = phase { true } else { false } }
  var isClosed: Bool { if case .closed = phase { true } else { false } }

  func sendOutput() -> SendResult { socket.send(output.span) }
}

/// One that publishes.
struct RawSender {
  let connection: Int
  var frame: RawFrame
  /// When those were sent that are not acknowledged; from `acked` on.
  var times: [UInt64] = []
  var acked = 0

  /// The time of the oldest send without an answer.
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

/// Who publishes in a room, in turn.
struct RawRoom {
  let members: Int
  var senders: Range<Int>
  var next: Int
  /// Messages that it may still send; of a fill.
  var left = Int.max

  init(members: Int, senders: Range<Int>) {
    self.members = members
    self.senders = senders
    next = senders.lowerBound
  }

  /// There must be one.
  mutating func takeTurn() -> Int {
    let sender = next
    next = sender + 1 == senders.upperBound ? senders.lowerBound : sender + 1
    return sender
  }
}
