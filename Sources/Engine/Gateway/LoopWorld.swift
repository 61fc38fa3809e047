package import Accounts
package import Relay
package import WebSocket

/// The environment of a `ConnectionLoop`: the bytes of its connections, time, the log, and the
/// other loops. The server's implementation has sockets, with or without TLS, and threads; the
/// simulation's has a network generated from a seed.
///
/// A stream carries the bytes of one connection in both directions. Its number is that of the
/// connection in the loop's table. All calls are on the loop's thread, and none blocks.
package protocol LoopWorld: AnyObject {
  // MARK: Time

  /// Returns the time of the loop's turn.
  func moment() -> Moment
  /// The current time, in microseconds of the monotonic clock, for measuring durations.
  var microseconds: Int64 { get }

  // MARK: Streams

  /// Reads once, into the beginning of the buffer. `ready` reports readable data once, and again
  /// only after a read has returned that there is no more.
  func read(_ stream: Int, into buffer: inout MutableSpan<UInt8>) -> StreamRead
  /// Takes the bytes that can be sent. If that is fewer than all, `ready` reports when more can be.
  func write(_ stream: Int, _ bytes: Span<UInt8>) -> StreamWrite
  /// Sends the backlog.
  func drain(_ stream: Int) -> StreamWrite
  /// Whether there is a backlog: bytes that `write` took and could not send.
  func hasBacklog(_ stream: Int) -> Bool
  /// Whether the TLS handshake is not complete, so that nothing can be sent yet.
  func isShakingHands(_ stream: Int) -> Bool
  /// Returns the milliseconds since the peer's system last acknowledged data, whether or not its
  /// process reads.
  func millisecondsSinceAcknowledgement(_ stream: Int) -> Int64
  /// Shuts the writing side; data that the peer still sends is read and discarded.
  func finish(_ stream: Int)
  /// Closes the stream at once. Its index may be reused.
  func close(_ stream: Int)

  // MARK: The log and the other loops

  /// Submits the requests of one turn; see `Log.submit`.
  func submit(_ requests: [LogRequest])
  /// Requests entries from storage; see `Log.read`.
  func read(_ request: ReadRequest)
  /// Sends a message to a loop, which may be this one.
  func post(_ message: LoopMessage, to loop: Int)

  // MARK: The process

  /// What the operator's log takes of `report`, as of now.
  var diagnosticsLevel: Diagnostics.Level { get }
  /// Writes a line to the operator's log.
  func report(_ level: Diagnostics.Level, _ message: String, _ fields: [LogField])
  /// Stops accepting connections.
  func stopAccepting()
  /// The loop, which shuts down, has stored what it accepted, and calls neither `submit` nor `read` any more.
  func logIsFinished()
  /// Fetches a picture, and posts `LoopMessage.avatar`.
  func fetchAvatar(of user: String, from url: String, for exchange: ExchangeID)
  /// Verifies a token that `Authenticator` could not decide about at once, and posts
  /// `LoopMessage.verified`.
  /// - Parameter host: where the token comes from, if that is known.
  func verify(_ token: String, from host: HostKey?, for asker: VerificationAsker)
  /// Records that devices are in use, by the names of their sessions.
  func use(_ devices: [String])
  /// Asks what keeps the accounts, which posts `LoopMessage.account`.
  func ask(_ call: AccountCall, for exchange: ExchangeID)
  /// Asks what keeps the bytes of files, which posts `LoopMessage.files`.
  func keep(_ work: FileWork, for worker: FileWorker)
  /// Returns the response to `GET /metrics`.
  func metrics(of loops: LoopSnapshot, openMetrics: Bool) -> HTTPResponse
  /// Keeps the figures of this moment.
  func keepSample(of loops: LoopSnapshot)
  /// Returns the response to `GET /v1/samples`.
  /// - Parameter time: only later ones, in milliseconds since 1970.
  func samples(after time: Int64) -> HTTPResponse
  /// Returns unused memory to the system after a peak of connections, including that of streams at
  /// indices from `places` on.
  func releaseMemory(keepingPlaces places: Int)
}

extension LoopWorld {
  package var diagnosticsLevel: Diagnostics.Level { .off }
  package func report(_ level: Diagnostics.Level, _ message: String, _ fields: [LogField]) {}
  package func logIsFinished() {}
  package func verify(_ token: String, from host: HostKey?, for asker: VerificationAsker) {
    preconditionFailure("only a relay that answers later is asked to verify")
  }
  package func use(_ devices: [String]) {}
  package func keepSample(of loops: LoopSnapshot) {}
  package func samples(after time: Int64) -> HTTPResponse {
    HTTPResponse(status: 200, json: Array("{\"samples\":[]}".utf8))
  }
  package func keep(_ work: FileWork, for worker: FileWorker) {
    preconditionFailure("only a relay that keeps files is asked to")
  }
  package func ask(_ call: AccountCall, for exchange: ExchangeID) {
    preconditionFailure("only a relay with accounts is asked about them")
  }
}

/// The result of a read from a stream.
package enum StreamRead {
  /// The number of bytes at the beginning of the buffer. It is 0 if only bytes of the TLS protocol
  /// came.
  /// - Parameters:
  ///   - received: the number of bytes that came over the network.
  ///   - mayHaveMore: whether more bytes may be available.
  case bytes(Int, received: Int, mayHaveMore: Bool)
  /// No data is available.
  case wouldBlock
  /// The peer sends no more data.
  case end
  /// The connection is gone.
  case reset
  /// The peer makes the stream send answers, and does not read them.
  case flooded
  /// The peer does not use the expected protocol, and was sent an error if possible.
  case unusable
  /// A proxy has named the client whose bytes follow, once, before anything else; `nil` if it speaks
  /// for itself.
  /// - Parameter received: the number of bytes that this took.
  case client(ProxyChain.Hop?, received: Int)
  /// The proxy should have named its client, and was sent an error if possible.
  case unnamedClient(because: String)
}

/// The result of a write to a stream.
package enum StreamWrite {
  /// The number of bytes that were taken; `sent` is the number that went out, and includes the
  /// overhead of TLS.
  case taken(Int, sent: Int)
  /// The connection is gone.
  case gone
}

/// Events of a stream.
package struct StreamReadiness: OptionSet, Sendable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Data, or the end of the stream, can be read.
  package static let readable = Self(rawValue: 1)
  /// More data can be written.
  package static let writable = Self(rawValue: 2)
  /// The peer sends no more data, or is gone.
  package static let closed = Self(rawValue: 4)
  /// The connection failed.
  package static let failed = Self(rawValue: 8)
}
