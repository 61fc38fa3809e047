public import Wire

/// What a shard has done since the start: plain numbers, since a shard is one thread's.
public struct ShardCounters: Sendable {
  /// Messages that were understood, by type, but for sends.
  public internal(set) var received: [RequestName: Int] = [:]
  public internal(set) var sends = 0
  /// Entries handed to connections, each as often as there are recipients.
  public internal(set) var deliveries = 0
  public internal(set) var acks = 0
  /// Answers other than acks and errors.
  public internal(set) var replies = 0
  /// Receipts, typing and what else does not wait in a log.
  public internal(set) var ephemera = 0
  /// Errors that clients were told.
  public internal(set) var refusals: [ErrorCode: Int] = [:]

  public init() {}

  /// A refusal that no session was told.
  public mutating func count(_ code: ErrorCode) { refusals[code, default: 0] += 1 }

  @inline(__always)
  mutating func count(received message: ClientMessage) {
    if case .send = message { sends += 1 } else { received[message.type, default: 0] += 1 }
  }

  mutating func count(reply message: ServerMessage) {
    if case .error(let error) = message { count(error.code) } else { replies += 1 }
  }

  /// Records an answer that came from the log ready to be sent.
  mutating func count(reply json: [UInt8]) {
    guard json.starts(with: #"{"type":"error""#.utf8),
      let message = try? ServerMessage(decoding: json.span)
    else {
      replies += 1
      return
    }
    count(reply: message)
  }

  public static func += (a: inout Self, b: Self) {
    a.received.merge(b.received, uniquingKeysWith: +)
    a.sends += b.sends
    a.deliveries += b.deliveries
    a.acks += b.acks
    a.replies += b.replies
    a.ephemera += b.ephemera
    a.refusals.merge(b.refusals, uniquingKeysWith: +)
  }
}
