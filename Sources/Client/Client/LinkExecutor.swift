package import EventLoop
package import Platform
package import WebSocket
package import Wire

/// The executor of a session whose connection is a link of an event loop. What it observes beyond the
/// events of the session, it observes before the session's actions are executed.
package protocol LinkExecutor: LinkOwner, SessionExecutor {
  var executors: LinkLoop<Self> { get }
  /// Observes a message that is sent.
  func didTransmit(_ message: ClientMessage)
  /// Observes a message as received.
  /// - Parameters:
  ///   - message: `nil` for one of an unknown type.
  ///   - isNews: See `ClientSession.receive`.
  func didReceive(_ message: ServerMessage?, _ json: Span<UInt8>, isNews: Bool)
  /// Observes that a connection has ended or could not be established.
  func didLoseConnection(_ error: ClientError)
  /// Handles a timer that is not the session's.
  func ownTimerFired(_ timer: TimerID)
  /// Translates the end of a connection.
  func error(of end: LinkEnd) -> ClientError
}

/// The executors on one event loop, by the tokens of its events. Sends their output once in a turn.
package final class LinkLoop<Executor: LinkExecutor> {
  private var executors: [Executor?] = []
  private var free: [Int] = []
  /// Executors with output to send.
  private var dirty: [Int] = []

  package init() {}

  /// Tokens with this bit belong to executors; those without it belong to the rest of the program.
  package static var tokenBit: UInt64 { 1 << 63 }

  /// The number of executors whose sessions have not ended.
  var count: Int { executors.count - free.count }

  package subscript(token: UInt64) -> Executor? {
    let index = Int(token & ~Self.tokenBit)
    return index < executors.count ? executors[index] : nil
  }

  /// Sends the output of this turn: one send(2) for each executor that has some.
  package func flush() {
    // Reporting events may make more executors dirty; they are appended to the same list.
    var next = 0
    while next < dirty.count {
      if let executor = executors[dirty[next]] { executor.flushTurn() }
      next += 1
    }
    dirty.removeAll(keepingCapacity: true)
  }

  /// Returns the token of the executor's events.
  fileprivate func insert(_ executor: Executor) -> UInt64 {
    let index = free.popLast() ?? executors.count
    if index == executors.count { executors.append(executor) } else { executors[index] = executor }
    return Self.tokenBit | UInt64(index)
  }

  fileprivate func remove(_ token: UInt64) {
    let index = Int(token & ~Self.tokenBit)
    executors[index] = nil
    free.append(index)
  }

  fileprivate func markDirty(_ token: UInt64) { dirty.append(Int(token & ~Self.tokenBit)) }
}

extension LinkExecutor {
  /// Connects, and stays connected until the session ends.
  package func startSession() {
    precondition(
      !isStarted && !execution.session.hasEnded, "the client has already been started")
    connection.token = executors.insert(self)
    perform { $0.start(at: $1, &$2) }
  }

  package func timerFired(_ timer: TimerID) {
    if connection.timer.hasFired(timer) { tick() } else { ownTimerFired(timer) }
  }

  /// Drops the connection or the attempt, and tells the session.
  package func lose(_ error: ClientError) {
    connection.drop()
    didLoseConnection(error)
    perform { $0.disconnected(error, at: $1, &$2) }
  }

  private var isStarted: Bool { connection.token & LinkLoop<Self>.tokenBit != 0 }

  fileprivate func flushTurn() {
    connection.isDirty = false
    guard connection.link.hasSocket else { return }
    flush()
    setCongested(connection.link.outputBytes > Link.congestedBytes)
  }

  // MARK: As a session's executor

  package var now: Instant { connection.loop.now }

  package func transmit(_ message: ClientMessage) {
    let connection = connection
    guard connection.link.isOpen else { return }
    connection.resources.withScratch { json in
      message.append(to: &json)
      connection.link.append(.text, json.span, with: connection.resources)
    }
    didTransmit(message)
    outputWaits()
  }

  package func transmitPing() {
    connection.link.appendPing(with: connection.resources)
    outputWaits()
  }

  package func closeConnection() {
    connection.link.close(.normal, with: connection.resources)
    outputWaits()
  }

  package func abandonConnection(_ code: CloseCode) {
    let wasOpen = connection.link.isOpen
    connection.link.close(code, with: connection.resources)
    connection.link.flush()
    connection.drop()
    if wasOpen { didLoseConnection(.lost(nil)) }
  }

  package func follow(_ deadline: Instant?) {
    guard isStarted else { return }
    connection.timer.follow(deadline, on: connection.loop, token: connection.token)
  }

  package func retire() {
    guard isStarted else { return }
    connection.drop()
    connection.timer.cancel(on: connection.loop)
    executors.remove(connection.token)
    connection.token = 0
  }

  // MARK: As a link's owner

  package func connectingFailed(_ error: SystemError) { lose(.unreachable(error)) }
  package func arrived(_ count: Int) { hear() }
  package func ended(_ end: LinkEnd) { lose(error(of: end)) }

  package func received(_ opcode: Opcode, _ json: Span<UInt8>) {
    guard opcode == .text else { return }
    let message = try? ServerMessage(decoding: json)
    receive(message) { didReceive(message, json, isNews: $0) }
  }

  package func outputWaits() {
    guard isStarted, !connection.isDirty else { return }
    connection.isDirty = true
    executors.markDirty(connection.token)
  }

  // MARK: What most executors do

  package func didTransmit(_ message: ClientMessage) {}
  package func didLoseConnection(_ error: ClientError) {}
  package func ownTimerFired(_ timer: TimerID) {}
  package func error(of end: LinkEnd) -> ClientError { ClientError(end) }
}
