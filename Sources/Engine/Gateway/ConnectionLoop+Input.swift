import Relay
import WebSocket
import Wire

/// Input: from streams to the shard.
extension ConnectionLoop {
  /// Handles an event of a connection's stream.
  package func ready(_ stream: Int, _ readiness: StreamReadiness) {
    let index = ConnectionSlot(stream)
    guard connections.contains(index) else { return }
    now = world.moment()
    if readiness.contains(.closed) || readiness.contains(.failed) {
      connections[index].sawEnd = true
      connections[index].isReadable = true
      if let exchange = connections[index].exchange {
        if exchange.state == .streaming { return remove(index) }
        // The client may be gone, or wait for the answer with its side of the connection closed.
        if exchange.state == .polling { finishPoll(exchange, index) }
        guard connections.contains(index) else { return }
      }
      if isSlowed(index) {
        if readiness.contains(.failed) {
          context.violations.count(.reset)
          remove(index)
          return
        }
        // The peer sends no more data. If its process is gone, its system answers the ping with a
        // reset.
        ping(index)
      }
    }
    if readiness.contains(.writable) {
      if world.hasBacklog(index.stream) { drain(index) }
      if let exchange = connections[index].exchange, exchange.state == .streaming {
        continueStream(exchange, index)
      } else if let exchange = connections[index].exchange {
        if exchange.state == .answering || !exchange.output.isEmpty { sendRest(exchange, index) }
      } else if let session = connections[index].session {
        shard.unblock(session)
      }
    }
    if readiness.contains(.readable) { connections[index].isReadable = true }
    guard connections[index].isReadable else { return }
    if connections[index].awaitsRequest, !connections[index].arrival[.isEstablished] {
      enqueueArrival(index)
    } else {
      read(index)
    }
  }

  /// Reads once, at most what a turn allows, and processes the input.
  func read(_ index: ConnectionSlot) {
    guard connections.contains(index), connections[index].isReadable,
      !connections[index].isPaused, connections[index].bot == nil
    else { return }
    var span = unsafe MutableSpan(_unsafeElements: readBuffer)
    switch world.read(index.stream, into: &span) {
    case .bytes(let count, let received, let mayHaveMore):
      heard(index, received, mayHaveMore)
      if count > 0, !connections[index].isLingering { takeRead(count, index) }
    case .wouldBlock: connections[index].isReadable = false
    case .end: endInput(index)
    case .reset:
      context.violations.count(.reset)
      remove(index)
    case .flooded: remove(index)
    case .unusable: linger(index)
    }
  }

  /// Handles the end of a connection's input. The peer may still wait for answers to what it has
  /// sent (`nc -N`, a half-closed TLS connection): they are sent first, and each request's own
  /// deadline bounds that. A WebSocket ends here: without a close frame it was cut off (RFC 6455
  /// §7.1.5).
  func endInput(_ index: ConnectionSlot) {
    if connections[index].awaitsRequest, !connections[index].pending.isEmpty {
      // Pipelined requests that were not processed yet, one per turn.
      let before = connections[index].pending.count
      readOn(index)
      if connections[index].awaitsRequest, connections[index].pending.count < before {
        unfinished.append(index)
        return
      }
    }
    switch connections[index].phase {
    case .exchange(let exchange) where exchange.state != .reading:
      // The end is read again once the answer is sent.
      connections[index].isReadable = true
    case .open where hasInput(index), .echo where hasInput(index):
      // Earlier input has to be processed first; the end is read again after it.
      connections[index].isReadable = true
    default: remove(index)
    }
  }

  /// Whether input is waiting to be processed.
  private func hasInput(_ index: ConnectionSlot) -> Bool {
    connections[index].isPaused || !connections[index].pending.isEmpty
  }

  private func heard(_ index: ConnectionSlot, _ received: Int, _ mayHaveMore: Bool) {
    counts.bytesIn += received
    connections[index].heardAt = now.monotonic
    connections[index].wasPinged = false
    if !mayHaveMore, !connections[index].sawEnd {
      connections[index].isReadable = false
    } else {
      unfinished.append(index)
    }
  }

  /// Processes the first `count` bytes of the read buffer, after those that are pending.
  private func takeRead(_ count: Int, _ index: ConnectionSlot) {
    let buffer = unsafe readBuffer
    if let head = connections[index].unfinishedHead {
      guard var bytes = unsafe head.take(buffer[..<count], headLimits, &headBytesScanned) else {
        return
      }
      connections[index].unfinishedHead = nil
      var input = bytes.mutableSpan
      take(&input, index)
    } else if connections[index].pending.isEmpty {
      var input = unsafe MutableSpan(
        _unsafeElements: UnsafeMutableBufferPointer(rebasing: buffer[..<count]))
      take(&input, index)
    } else {
      var bytes = connections[index].pending
      connections[index].pending = []
      unsafe bytes.append(contentsOf: buffer[..<count])
      var input = bytes.mutableSpan
      take(&input, index)
    }
  }

  /// Continues with a connection whose input the shard accepts again.
  func resume(_ index: ConnectionSlot) {
    guard connections.contains(index) else { return }
    if let exchange = connections[index].exchange {
      if exchange.state == .held { submit(exchange, index) }
      return
    }
    guard connections[index].isPaused else { return }
    if connections[index].bot != nil {
      connections[index].isPaused = false
      takeBotInbox(index)
    } else if connections[index].isOpen {
      connections[index].isPaused = false
      observer?.loopPaused(index.stream, false)
      readOn(index)
    }
  }

  /// Continues after a pause: processes the pending input, and then reads what has arrived since.
  /// The stream reports new data only once, possibly during the pause, so this reads in any state
  /// that the pending input may have left the connection in: a request without its content, a
  /// WebSocket, a connection that ends.
  func readOn(_ index: ConnectionSlot) {
    if !connections[index].pending.isEmpty {
      var bytes = connections[index].pending
      connections[index].pending = []
      var input = bytes.mutableSpan
      take(&input, index)
    }
    if connections[index].isReadable, !connections[index].isPaused {
      unfinished.append(index)
    }
  }

  private func take(_ input: inout MutableSpan<UInt8>, _ index: ConnectionSlot) {
    var offset = 0
    if case .exchange = connections[index].phase {
      takeContent(input.span, index)
      return
    }
    if connections[index].awaitsRequest {
      guard takeRequest(input.span, &offset, index) else { return }
    }
    if case .echo = connections[index].phase {
      takeEchoes(&input, &offset, index)
    } else {
      takeFrames(&input, &offset, index)
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
    case closedByPeer
    case tooManyControlFrames
    case violation(ProtocolViolation)
  }

  func takeFrames(
    _ input: inout MutableSpan<UInt8>, _ offset: inout Int, _ index: ConnectionSlot
  ) {
    guard let session = connections[index].session else { return }
    while true {
      // Moved out of the table meanwhile, because otherwise each frame would look it up again.
      var webSocket = WebSocket.Connection(role: .server, limits: webSocketLimits)
      swap(&webSocket, &connections[index].webSocket)
      let pause = takeFrames(&input, &offset, &webSocket, session, index)
      swap(&webSocket, &connections[index].webSocket)
      switch pause {
      case .nothingLeft: return
      case .full:
        if shard.hasOutput(session) { context.violations.count(.queueBytes) }
        self.pause(index, with: input.span.extracting(offset..<input.count))
        return
      case .binary:
        context.violations.count(.framing)
        close(index, .unsupportedData, "only text messages are supported")
      case .closedByPeer: beginClosing(session, index)
      case .tooManyControlFrames:
        closeFlooding(index)
      case .violation(let violation):
        context.violations.count(violation.rule)
        close(index, violation.closeCode, "\(violation)")
        return
      }
    }
  }

  private func takeFrames(
    _ input: inout MutableSpan<UInt8>, _ offset: inout Int,
    _ webSocket: inout WebSocket.Connection, _ session: SessionID, _ index: ConnectionSlot
  ) -> Pause {
    let isOpen = connections[index].isOpen
    var answers: [UInt8] = []
    do throws(ProtocolViolation) {
      while true {
        // A session without input has nothing to wait for.
        if isOpen, offset == input.count { return .nothingLeft }
        // Also if the session is about to be closed: it accepts nothing more then.
        if isOpen, !shard.mayReceive(session, now: now) { return .full }
        let event = try webSocket.next(
          in: &input, at: &offset, output: &answers, maskKey: { 0 })
        if !answers.isEmpty {
          if mayAnswer(session, index) { shard.append(frames: answers, to: session) }
          answers.removeAll(keepingCapacity: true)
        }
        guard let event else { return .nothingLeft }
        guard isOpen else {
          if case .close = event { toReap.append(index) }
          continue
        }
        switch event {
        case .message(.text, .input(let range)):
          observer?.loopTakes(input.span.extracting(range), from: index.stream, session)
          shard.receive(session, input.span.extracting(range), now: now)
          if !connections[index].isAuthenticated { recordIfAuthenticated(session, index) }
        case .message(.text, .assembled):
          observer?.loopTakes(webSocket.assembled.span, from: index.stream, session)
          shard.receive(session, webSocket.assembled.span, now: now)
          if !connections[index].isAuthenticated { recordIfAuthenticated(session, index) }
        case .message: return .binary
        case .close: return .closedByPeer
        case .ping, .pong: guard mayTakeControlFrame(index) else { return .tooManyControlFrames }
        }
      }
    } catch {
      return .violation(error)
    }
  }

  /// Counts a ping or a pong; returns `false` beyond the limit. They cost the peer next to nothing,
  /// and the rate limits of the session do not cover them.
  func mayTakeControlFrame(_ index: ConnectionSlot) -> Bool {
    if now.monotonic - connections[index].controlFramesSince >= 1000 {
      connections[index].controlFramesSince = now.monotonic
      connections[index].controlFrames = 0
    }
    connections[index].controlFrames += 1
    return !isFlooding(index)
  }

  func closeFlooding(_ index: ConnectionSlot) {
    context.violations.count(.controlFramesPerSecond)
    let limit = context.limits.controlFramesPerSecond
    close(
      index, CloseCode(rawValue: CloseReason.abuse.rawValue),
      "more than \(limit) pings and pongs per second")
  }

  /// Whether the connection was closed, or is about to be, for too many pings and pongs.
  func isFlooding(_ index: ConnectionSlot) -> Bool {
    let limit = context.limits.controlFramesPerSecond
    return limit > 0 && connections[index].controlFrames > limit
  }

  /// Whether a ping is answered. After a close frame was sent the peer's input is no longer held
  /// back, so a peer that pings and does not read could fill memory: a ping that comes before the
  /// last answer is sent stays unanswered (RFC 6455 §5.5.3).
  private func mayAnswer(_ session: SessionID, _ index: ConnectionSlot) -> Bool {
    connections[index].isOpen || !shard.hasOutput(session)
  }

  /// Handles a close frame of the peer. The answer to it is queued; other queued output is sent
  /// before it, and nothing after it.
  func beginClosing(_ session: SessionID, _ index: ConnectionSlot) {
    shard.beginClosing(session)
    connections[index].phase = .closing
    connections[index].deadline = now.monotonic + Self.lingerMilliseconds
    toReap.append(index)
  }

  /// Keeps unprocessed input until the session may receive again.
  func pause(_ index: ConnectionSlot, with rest: Span<UInt8>) {
    connections[index].isPaused = true
    connections[index].pending = rest.copy
    observer?.loopPaused(index.stream, true)
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
