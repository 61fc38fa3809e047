import Relay
import WebSocket
import Wire

/// Output: from the shard to streams; and the ways in which a connection ends.
extension ConnectionLoop {
  /// Writes output of a session; returns the number of accepted bytes.
  func write(_ connection: ServerConnection, _ bytes: Span<UInt8>) -> Int {
    switch connection.state {
    case .bot(let bot): return tell(bot, InternalMessage.all(in: bytes)) ? bytes.count : 0
    case .exchange(let exchange): return exchange.write(bytes)
    case .canary(let run):
      run.take(InternalMessage.all(in: bytes))
      advanceLater(connection)
      return bytes.count
    default: return writeToStream(connection, bytes)
    }
  }

  /// Writes to a stream; returns the number of accepted bytes.
  func writeToStream(_ connection: ServerConnection, _ bytes: Span<UInt8>) -> Int {
    assert(
      connection.hasStream && !connection.isLingering && !connection.isGone,
      "nothing is written once the writing side is shut")
    diagnostics.trace(
      connection.stream, "Bytes are written.", [LogField("bytes", bytes.count)])
    let taken = apply(world.write(connection.stream, bytes), connection)
    if connection.isClosing, taken == bytes.count, !world.hasBacklog(connection.stream) {
      advanceLater(connection)
    }
    return taken
  }

  /// Sends the backlog of a stream.
  func drain(_ connection: ServerConnection) {
    _ = apply(world.drain(connection.stream), connection)
    if connection.isClosing, !world.hasBacklog(connection.stream) {
      advanceLater(connection)
    }
  }

  private func apply(_ outcome: StreamWrite, _ connection: ServerConnection) -> Int {
    switch outcome {
    case .taken(let count, let sent):
      if sent > 0 {
        connection.takenAt = now.monotonic
        counts.bytesOut += sent
      }
      return count
    case .gone:
      failed.append(connection)
      return 0
    }
  }

  // MARK: - Closing

  /// Begins the closing handshake, after the queued output.
  /// - Parameter detail: the reason for the operator's log, if that is another one.
  func close(
    _ connection: ServerConnection, _ code: CloseCode, _ reason: String, detail: String? = nil
  ) {
    guard connection.isOpen, let session = connection.session else {
      return
    }
    reportClose(of: connection, code, detail ?? reason)
    connection.state = .closing
    counts.closes[code.rawValue, default: 0] += 1
    connection.deadline = now.monotonic + Self.lingerMilliseconds
    control.removeAll(keepingCapacity: true)
    shard.beginClosing(session)
    connection.webSocket.close(code, reason: reason, to: &control, maskKey: 0)
    shard.append(frames: control, to: session)
    advanceLater(connection)
    // The peer's close frame has to be read, although its other input is no longer processed.
    if connection.isPaused {
      connection.isPaused = false
      observer?.loopPaused(connection.stream, false)
      readOn(connection)
    }
  }

  func closeWhatIsToBeClosed() {
    for closing in shard.takeClosings() {
      guard let connection = connections[Int(closing.connection)],
        connection.session == closing.session
      else { continue }
      switch connection.state {
      case .exchange(let exchange):
        reportEnd(of: connection, closing.detail)
        exchange.sessionEnds(closing.reason, closing.text)
      case .canary: finishCanary(connection, .failed(closing.text))
      case .bot: remove(connection)
      default:
        close(
          connection, CloseCode(rawValue: closing.reason.rawValue), closing.text,
          detail: closing.detail)
      }
    }
  }

  /// Lets `reap` advance a connection, once the shard is not being called.
  func advanceLater(_ connection: ServerConnection) { toReap.append(connection) }

  /// Advances connections that are being closed, and exchanges and canaries.
  func reap() {
    for connection in failed { remove(connection) }
    failed.removeAll(keepingCapacity: true)
    let due = toReap
    toReap.removeAll(keepingCapacity: true)
    for connection in due where !connection.isGone {
      switch connection.state {
      case .closing: reapClosing(connection)
      case .exchange(let exchange): exchange.advance()
      case .canary(let run): advance(run, connection)
      default: continue
      }
    }
  }

  private func reapClosing(_ connection: ServerConnection) {
    guard let session = connection.session else { return }
    if shard.hasOutput(session) || world.hasBacklog(connection.stream) {
      // During a shutdown a client that does not read is not waited for.
      if shutdown != nil { remove(connection) }
      return
    }
    // The close frame of a peer that floods is not awaited.
    if connection.webSocket.state == .closed
      || connection.isFlooding(limit: context.limits.controlFramesPerSecond)
    {
      linger(connection)
    }
  }

  /// Shuts the writing side, and waits for the peer to do the same.
  func linger(_ connection: ServerConnection) {
    endSession(of: connection)
    connection.pending = []
    connection.state = .lingering
    connection.isPaused = false
    connection.deadline = now.monotonic + Self.lingerMilliseconds
    world.finish(connection.stream)
    if connection.isReadable { unfinished.append(connection) }
  }

  // MARK: - Time

  /// Prolongs all deadlines by the time in which this loop did not run: what peers sent meanwhile still
  /// waits in their sockets.
  func grantStalledTime() {
    let stalled = now.monotonic - sweptAt
    sweptAt = now.monotonic
    guard stalled > Int64(Self.sweepMilliseconds) + Self.stallMilliseconds else { return }
    for connection in connections.all {
      connection.prolong(by: stalled)
      connection.exchange?.prolong(by: stalled)
      if case .canary(let run) = connection.state { run.deadline += stalled }
    }
    shutdown?.deadline += stalled
  }

  /// Checks every connection for expired deadlines, silence and lost peers.
  package func sweep() {
    now = world.moment()
    diagnostics.level = world.diagnosticsLevel
    grantStalledTime()
    releaseHeld()
    reportDevices()
    takeSample()
    sweepFiles()
    let limits = context.limits
    let heartbeat = Int64(limits.heartbeatSeconds) * 1000
    let idle = Int64(limits.idleTimeoutSeconds) * 1000
    for stream in 0..<connections.capacity {
      guard let connection = connections[stream] else { continue }
      switch connection.state {
      case .opening: sweepUnauthenticated(connection)
      case .resting: sweepIdle(connection)
      case .exchange(let exchange): exchange.sweep()
      case .canary(let run): expire(run, connection)
      case .bot(let bot): sweepBot(bot, connection)
      case .closing, .lingering:
        if now.monotonic >= connection.deadline { remove(connection) }
      case .gone: continue
      case .open, .echo:
        guard connection.isAuthenticated else {
          sweepUnauthenticated(connection)
          continue
        }
        var silence = now.monotonic - connection.heardAt
        if idle > 0, silence >= idle, isSlowed(connection) {
          readSlowed(connection)
          guard !connection.isGone, connection.isOpen else { continue }
          silence = now.monotonic - connection.heardAt
        }
        if idle > 0, silence >= idle, now.monotonic - connection.takenAt >= idle {
          countViolation(.idleTimeout, by: connection)
          remove(connection, "nothing was heard from the client for \(idle / 1000) s")
        } else if heartbeat > 0, silence >= heartbeat, !connection.wasPinged {
          ping(connection)
        }
      }
    }
    let isLoose =
      connections.capacity > Self.tableAtLeast && connections.count < connections.capacity / 4
    if isLoose || shard.isLoose { wantsToShrink = true }
    shard.trimBuffers()
    context.budgets.evictIdle(now: now.monotonic)
    context.addressBudgets.evictIdle(now: now.monotonic)
    context.guessBudgets.evictIdle(now: now.monotonic)
    context.fileBudgets.evictIdle(now: now.monotonic)
    context.files?.budgets.evictIdle(now: now.monotonic)
    giveBackAgain()
    reportSummaries()
  }

  /// Whether a connection is not read from because its user sends too much.
  func isSlowed(_ connection: ServerConnection) -> Bool {
    connection.isPaused && connection.session.map { shard.isSlowed($0) } == true
  }

  /// Reads once from a slowed connection that has not been read for the whole idle timeout, to find
  /// a pong or the end of the stream, and keeps the input. If the pending input is at its limit, a
  /// pong could only follow it, so an acknowledgement of the ping by the peer's system counts
  /// instead.
  private func readSlowed(_ connection: ServerConnection) {
    guard connection.pending.count <= Self.readBytes else {
      let acknowledgedAt = now.monotonic - world.millisecondsSinceAcknowledgement(connection.stream)
      connection.heardAt = max(connection.heardAt, acknowledgedAt)
      connection.wasPinged = false
      return
    }
    connection.isPaused = false
    connection.isReadable = true
    read(connection)
    // If nothing came, nothing was processed, and the session waits as before.
    if !connection.isGone, connection.isOpen,
      let session = connection.session, shard.isSlowed(session)
    {
      connection.isPaused = true
    }
  }

  func ping(_ connection: ServerConnection) {
    guard let session = connection.session else { return }
    connection.wasPinged = true
    control.removeAll(keepingCapacity: true)
    connection.webSocket.appendPing([], to: &control, maskKey: 0)
    shard.append(frames: control, to: session)
  }

  /// Ends a connection that has waited too long between two HTTP requests.
  /// Reports the devices that are connected: a token is presented once, and a screen may stay for months.
  private func reportDevices() {
    guard now.monotonic - devicesReportedAt >= Self.deviceReportMilliseconds else { return }
    devicesReportedAt = now.monotonic
    let devices = shard.devices
    if !devices.isEmpty { world.use(devices) }
  }

  private func sweepIdle(_ connection: ServerConnection) {
    let deadline = connection.deadline
    guard deadline > 0, now.monotonic >= deadline else { return }
    if connection.unfinishedHead != nil { countViolation(.handshakeTimeout, by: connection) }
    remove(connection)
  }

  /// Limits the time for which a connection is unauthenticated, and the number of these per
  /// address.
  private func sweepUnauthenticated(_ connection: ServerConnection) {
    let deadline = connection.deadline
    if deadline > 0, now.monotonic >= deadline {
      countViolation(.handshakeTimeout, by: connection)
      if connection.awaitsRequest {
        remove(connection)
      } else {
        close(
          connection, CloseCode(rawValue: CloseReason.authenticationTimeout.rawValue),
          "authentication timed out")
      }
      return
    }
    // The client of a proxy is known by its request.
    let isUnassigned = connection.peer == .proxy && connection.awaitsRequest
    guard !isUnassigned, !connection.isCountedAsUnauthenticated,
      let host = connection.host
    else { return }
    guard connection.sweepsWaited >= Self.sweepsGranted else {
      connection.sweepsWaited += 1
      return
    }
    if context.admission.countUnauthenticated(host) {
      connection.isCountedAsUnauthenticated = true
    } else {
      countViolation(.unauthenticatedPerAddress, by: connection)
      reject(connection)
    }
  }

  /// Rejects a connection whose address has too many unauthenticated ones: with a close frame or an
  /// HTTP response, depending on its state.
  private func reject(_ connection: ServerConnection) {
    let limit = context.limits.unauthenticatedPerAddress
    let text =
      "too many unauthenticated connections from this address (limit: \(limit)); try again later"
    if connection.isOpen {
      close(connection, .tryAgainLater, text)
    } else {
      refuseUnasked(connection, "\(text).\n")
    }
  }

  /// Answers 503 before a request was read. During the TLS handshake no answer is possible.
  func refuseUnasked(_ connection: ServerConnection, _ text: String) {
    if world.isShakingHands(connection.stream) {
      linger(connection)
    } else {
      answer(HTTPResponse(status: 503, text: text), connection)
    }
  }
}
