package import Relay
package import WebSocket

/// What a `ConnectionLoop` reaches the outside through: the bytes of its connections, time, the log, and
/// the other loops. The server's world has sockets, with or without TLS, and threads; the simulation's
/// has a network made up from a seed.
///
/// A stream is one connection's bytes in both directions, by the connection's place in the loop's table.
/// All is called on the loop's thread, and nothing blocks.
package protocol LoopWorld: AnyObject {
  // MARK: Time

  /// The time of the loop's turn.
  func moment() -> Moment
  /// The time now, in microseconds of the monotonic clock: to measure what something took.
  var microseconds: Int64 { get }

  // MARK: Streams

  /// Reads once, into the front of the buffer. That something can be read is told once (`ready`), until
  /// a read has said that nothing more is there.
  func read(_ stream: Int, into buffer: inout MutableSpan<UInt8>) -> StreamRead
  /// Takes as much as can be sent. `ready` tells when more can be, once it took less than all.
  func write(_ stream: Int, _ bytes: Span<UInt8>) -> StreamWrite
  /// Sends what `write` took and could not send.
  func drain(_ stream: Int) -> StreamWrite
  /// Whether there is something of that kind.
  func hasBacklog(_ stream: Int) -> Bool
  /// Whether nothing can be said yet, since encryption is still being agreed on.
  func isShakingHands(_ stream: Int) -> Bool
  /// Milliseconds since the peer's system acknowledged something, whether or not its process reads.
  func millisecondsSinceAcknowledgement(_ stream: Int) -> Int64
  /// Says that nothing more comes; what the peer still sends is read and thrown away.
  func finish(_ stream: Int)
  /// Ends it here and now. The place is free for another one.
  func close(_ stream: Int)

  // MARK: The log and the other loops

  /// Hands over one turn's requests; see `Log.submit`.
  func submit(_ requests: [LogRequest])
  /// Asks for entries from storage; see `Log.read`.
  func read(_ request: ReadRequest)
  /// Tells a loop something, also this one.
  func post(_ message: LoopMessage, to loop: Int)

  // MARK: The process

  /// No one new comes from now on.
  func stopAccepting()
  /// Fetches a picture, and posts `LoopMessage.avatar`.
  func fetchAvatar(of user: String, from url: String, connection: Int, exchange: UInt64)
  /// The answer to `GET /metrics`.
  func metrics(of loops: LoopSnapshot) -> HTTPResponse
  /// A crowd has left: gives memory back, and that of places beyond so many.
  func giveBackMemory(keepingPlaces places: Int)
}

/// What a read of a stream has come to.
package enum StreamRead {
  /// So many bytes lie in the front of the buffer, which may be none: those that came were encryption's own.
  /// - Parameters:
  ///   - received: how many came, as they were sent.
  ///   - mayHaveMore: whether there may be more already.
  case bytes(Int, received: Int, mayHaveMore: Bool)
  /// Nothing is there.
  case wouldBlock
  /// The peer sends nothing more.
  case end
  /// The connection is gone.
  case reset
  /// The peer makes the stream talk, and does not listen.
  case flooded
  /// The peer does not speak what is spoken here, and was told so as far as that can be done.
  case unusable
}

/// What a write to a stream has come to.
package enum StreamWrite {
  /// So many bytes were taken. Sent were as many, or others: what encryption makes of them.
  case taken(Int, sent: Int)
  /// The connection is gone.
  case gone
}

/// What has happened to a stream.
package struct StreamReadiness: OptionSet, Sendable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Something can be read, or the end.
  package static let readable = Self(rawValue: 1)
  /// More can be written.
  package static let writable = Self(rawValue: 2)
  /// The peer sends nothing more, or is gone.
  package static let closed = Self(rawValue: 4)
  /// The connection failed.
  package static let failed = Self(rawValue: 8)
}
