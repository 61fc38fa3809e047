import Relay
import WebSocket
import Wire

/// Input: from streams to the shard.
extension ConnectionLoop {
  /// Handles an event of a connection's stream.
  package func ready(_ stream: Int, _ readiness: StreamReadiness) {
    guard let connection = connections[stream] else { return }
    now = world.moment()
    if readiness.contains(.closed) || readiness.contains(.failed) {
      connection.sawEnd = true
      connection.isReadable = true
      connection.exchange?.clientClosed()
      guard !connection.isGone else { return }
      if isSlowed(connection) {
        if readiness.contains(.failed) {
          removeReset(connection)
          return
        }
        // The peer sends no more data. If its process is gone, its system answers the ping with a
        // reset.
        ping(connection)
      }
    }
    if readiness.contains(.writable) {
      if world.hasBacklog(connection.stream) { drain(connection) }
      if let exchange = connection.exchange {
        exchange.continueOutput()
      } else if let session = connection.session {
        shard.unblock(session)
      }
    }
    if readiness.contains(.readable) { connection.isReadable = true }
    guard connection.isReadable else { return }
    if connection.awaitsRequest, !connection.arrival[.isEstablished] {
      enqueueArrival(connection)
    } else {
      read(connection)
    }
  }

  /// Reads once, at most what a turn allows, and processes the input.
  func read(_ connection: ServerConnection) {
    guard !connection.isGone, connection.isReadable,
      !connection.isPaused, connection.bot == nil
    else { return }
    var span = unsafe MutableSpan(_unsafeElements: readBuffer)
    switch world.read(connection.stream, into: &span) {
    case .bytes(let count, let received, let mayHaveMore):
      heard(connection, received, mayHaveMore)
      if count > 0, !connection.isLingering { takeRead(count, connection) }
    case .wouldBlock: connection.isReadable = false
    case .end: endInput(connection)
    case .reset: removeReset(connection)
    case .flooded: remove(connection)
    case .unusable: linger(connection)
    case .client(let client, let received):
      heard(connection, received)
      assign(connection, to: client)
    case .unnamedClient(let reason):
      countViolation(.proxyProtocol, by: connection, because: reason)
      linger(connection)
    }
  }

  private func removeReset(_ connection: ServerConnection) {
    countViolation(.reset, by: connection)
    remove(connection, "the client reset the connection")
  }

  /// Handles the end of a connection's input. The peer may still wait for answers to what it has
  /// sent (`nc -N`, a half-closed TLS connection): they are sent first, and each request's own
  /// deadline bounds that. A WebSocket ends here: without a close frame it was cut off (RFC 6455
  /// §7.1.5).
  func endInput(_ connection: ServerConnection) {
    if connection.awaitsRequest, !connection.pending.isEmpty {
      // Pipelined requests that were not processed yet, one per turn.
      let before = connection.pending.count
      readOn(connection)
      if connection.awaitsRequest, connection.pending.count < before {
        unfinished.append(connection)
        return
      }
    }
    switch connection.state {
    case .exchange(let exchange) where !exchange.isReading:
      // The end is read again once the answer is sent.
      connection.isReadable = true
    case .open where hasInput(connection), .echo where hasInput(connection):
      // Earlier input has to be processed first; the end is read again after it.
      connection.isReadable = true
    default: remove(connection, "the client closed the connection without a close frame")
    }
  }

  /// Whether input is waiting to be processed.
  private func hasInput(_ connection: ServerConnection) -> Bool {
    connection.isPaused || !connection.pending.isEmpty
  }

  private func heard(_ connection: ServerConnection, _ received: Int) {
    counts.bytesIn += received
    connection.heardAt = now.monotonic
    connection.wasPinged = false
  }

  private func heard(_ connection: ServerConnection, _ received: Int, _ mayHaveMore: Bool) {
    heard(connection, received)
    if !mayHaveMore, !connection.sawEnd {
      connection.isReadable = false
    } else {
      unfinished.append(connection)
    }
  }

  /// Processes the first `count` bytes of the read buffer, after those that are pending.
  private func takeRead(_ count: Int, _ connection: ServerConnection) {
    let buffer = unsafe readBuffer
    if let head = connection.unfinishedHead {
      guard var bytes = unsafe head.take(buffer[..<count], headLimits, &headBytesScanned) else {
        return
      }
      connection.unfinishedHead = nil
      var input = bytes.mutableSpan
      take(&input, connection)
    } else if connection.pending.isEmpty {
      var input = unsafe MutableSpan(
        _unsafeElements: UnsafeMutableBufferPointer(rebasing: buffer[..<count]))
      take(&input, connection)
    } else {
      var bytes = connection.pending
      connection.pending = []
      unsafe bytes.append(contentsOf: buffer[..<count])
      var input = bytes.mutableSpan
      take(&input, connection)
    }
  }

  /// Continues with a connection whose input the shard accepts again.
  func resume(_ connection: ServerConnection) {
    guard !connection.isGone else { return }
    if let exchange = connection.exchange { return exchange.resume() }
    guard connection.isPaused else { return }
    if connection.bot != nil {
      connection.isPaused = false
      takeBotInbox(connection)
    } else if connection.isOpen {
      connection.isPaused = false
      observer?.loopPaused(connection.stream, false)
      readOn(connection)
    }
  }

  /// Continues after a pause: processes the pending input, and then reads what has arrived since.
  /// The stream reports new data only once, possibly during the pause, so this reads in any state
  /// that the pending input may have left the connection in: a request without its content, a
  /// WebSocket, a connection that ends.
  func readOn(_ connection: ServerConnection) {
    if !connection.pending.isEmpty {
      var bytes = connection.pending
      connection.pending = []
      var input = bytes.mutableSpan
      take(&input, connection)
    }
    if connection.isReadable, !connection.isPaused {
      unfinished.append(connection)
    }
  }

  private func take(_ input: inout MutableSpan<UInt8>, _ connection: ServerConnection) {
    var offset = 0
    if let exchange = connection.exchange { return exchange.receive(input.span) }
    if connection.awaitsRequest {
      guard takeRequest(input.span, &offset, connection) else { return }
    }
    if case .echo = connection.state {
      takeEchoes(&input, &offset, connection)
    } else {
      takeFrames(&input, &offset, connection)
    }
  }

  // MARK: - Frames

  /// The reason for which no more frames are processed for now.
  private enum Pause {
    /// All input is processed, except an unfinished frame, which the WebSocket keeps.
    case nothingLeft
    /// The session accepts no more.
    case full
    case binary
    case closedByPeer(CloseCode)
    case tooManyControlFrames
    case violation(ProtocolViolation)
  }

  func takeFrames(
    _ input: inout MutableSpan<UInt8>, _ offset: inout Int, _ connection: ServerConnection
  ) {
    guard let session = connection.session else { return }
    while true {
      switch takeFrames(&input, &offset, session, connection) {
      case .nothingLeft: return
      case .full:
        if shard.hasOutput(session) { countViolation(.queueBytes, by: connection) }
        self.pause(connection, with: input.span.extracting(offset..<input.count))
        return
      case .binary:
        countViolation(.framing, by: connection)
        close(connection, .unsupportedData, "only text messages are supported")
      case .closedByPeer(let code): beginClosing(session, code, connection)
      case .tooManyControlFrames:
        closeFlooding(connection)
      case .violation(let violation):
        countViolation(violation.rule, by: connection)
        close(connection, violation.closeCode, "\(violation)")
        return
      }
    }
  }

  private func takeFrames(
    _ input: inout MutableSpan<UInt8>, _ offset: inout Int, _ session: SessionID,
    _ connection: ServerConnection
  ) -> Pause {
    let isOpen = connection.isOpen
    var answers: [UInt8] = []
    do throws(ProtocolViolation) {
      while true {
        // A session without input has nothing to wait for.
        if isOpen, offset == input.count { return .nothingLeft }
        // Also if the session is about to be closed: it accepts nothing more then.
        if isOpen, !shard.mayReceive(session, now: now) { return .full }
        let event = try connection.webSocket.next(
          in: &input, at: &offset, output: &answers, maskKey: { 0 })
        if !answers.isEmpty {
          if mayAnswer(session, connection) { shard.append(frames: answers, to: session) }
          answers.removeAll(keepingCapacity: true)
        }
        guard let event else { return .nothingLeft }
        guard isOpen else {
          if case .close = event { advanceLater(connection) }
          continue
        }
        switch event {
        case .message(.text, .input(let range)):
          connection.arrival[.hasSentLast] = true
          observer?.loopTakes(input.span.extracting(range), from: connection.stream, session)
          shard.receive(session, input.span.extracting(range), now: now)
          if !connection.isAuthenticated { recordIfAuthenticated(session, connection) }
        case .message(.text, .assembled):
          connection.arrival[.hasSentLast] = true
          let message = connection.webSocket.assembled
          observer?.loopTakes(message.span, from: connection.stream, session)
          shard.receive(session, message.span, now: now)
          if !connection.isAuthenticated { recordIfAuthenticated(session, connection) }
        case .message: return .binary
        case .close(let code, _): return .closedByPeer(code)
        case .ping, .pong:
          connection.arrival[.hasSentLast] = false
          guard mayTakeControlFrame(connection) else { return .tooManyControlFrames }
        }
      }
    } catch {
      return .violation(error)
    }
  }

  func mayTakeControlFrame(_ connection: ServerConnection) -> Bool {
    connection.mayTakeControlFrame(
      limit: context.limits.controlFramesPerSecond, now: now.monotonic)
  }

  func closeFlooding(_ connection: ServerConnection) {
    countViolation(.controlFramesPerSecond, by: connection)
    let limit = context.limits.controlFramesPerSecond
    close(
      connection, CloseCode(rawValue: CloseReason.abuse.rawValue),
      "more than \(limit) pings and pongs per second")
  }

  /// Whether a ping is answered. After a close frame was sent the peer's input is no longer held
  /// back, so a peer that pings and does not read could fill memory: a ping that comes before the
  /// last answer is sent stays unanswered (RFC 6455 §5.5.3).
  private func mayAnswer(_ session: SessionID, _ connection: ServerConnection) -> Bool {
    connection.isOpen || !shard.hasOutput(session)
  }

  /// Handles a close frame of the peer. The answer to it is queued; other queued output is sent
  /// before it, and nothing after it.
  func beginClosing(_ session: SessionID, _ code: CloseCode, _ connection: ServerConnection) {
    reportEnd(of: connection, "the client closed the connection", code: code)
    shard.beginClosing(session)
    connection.state = .closing
    connection.deadline = now.monotonic + Self.lingerMilliseconds
    advanceLater(connection)
  }

  /// Records that the client has authenticated, if the message just received did that.
  private func recordIfAuthenticated(_ session: SessionID, _ connection: ServerConnection) {
    if shard.isAuthenticated(session) { recordEstablished(connection) }
  }

  /// Keeps unprocessed input until the session may receive again.
  func pause(_ connection: ServerConnection, with rest: Span<UInt8>) {
    connection.isPaused = true
    connection.pending = rest.copy
    observer?.loopPaused(connection.stream, true)
  }
}

extension HTTPViolation {
  var rule: Violations.Rule {
    switch self {
    case .headerTooLong, .requestLineTooLong: .headerBytes
    case .tooManyLines: .headerLines
    default: .handshake
    }
  }
}

extension ProtocolViolation {
  var rule: Violations.Rule {
    switch self {
    case .frameTooBig, .messageTooBig: .frameBytes
    case .tooManyFragments: .messageFragments
    default: .framing
    }
  }
}

extension Span<UInt8> {
  /// The elements in an array of their own.
  var copy: [UInt8] { unsafe withUnsafeBufferPointer { unsafe Array($0) } }
}
