import Relay
import WebSocket
import Wire

/// Output: from the shard to streams; and the ways in which a connection ends.
extension ConnectionLoop {
  /// Writes output of a session; returns the number of accepted bytes.
  func write(_ index: ConnectionSlot, _ bytes: Span<UInt8>) -> Int {
    switch connections[index].phase {
    case .bot(let bot): return tell(bot, InternalMessage.all(in: bytes)) ? bytes.count : 0
    case .exchange(let exchange) where exchange.stream != nil:
      return writeEvents(of: exchange, index, bytes)
    case .exchange(let exchange):
      // The shard is being called, so what follows from this has to wait.
      exchange.take(InternalMessage.all(in: bytes), wall: now.wall)
      toReap.append(index)
      return bytes.count
    case .canary(let run):
      run.take(InternalMessage.all(in: bytes))
      toReap.append(index)
      return bytes.count
    default: return writeToStream(index, bytes)
    }
  }

  /// Writes to a stream; returns the number of accepted bytes.
  func writeToStream(_ index: ConnectionSlot, _ bytes: Span<UInt8>) -> Int {
    let taken = apply(world.write(index.stream, bytes), index)
    if connections[index].isClosing, taken == bytes.count, !world.hasBacklog(index.stream) {
      toReap.append(index)
    }
    return taken
  }

  /// Sends the backlog of a stream.
  func drain(_ index: ConnectionSlot) {
    _ = apply(world.drain(index.stream), index)
    if connections[index].isClosing, !world.hasBacklog(index.stream) {
      toReap.append(index)
    }
  }

  private func apply(_ outcome: StreamWrite, _ index: ConnectionSlot) -> Int {
    switch outcome {
    case .taken(let count, let sent):
      if sent > 0 {
        connections[index].takenAt = now.monotonic
        counts.bytesOut += sent
      }
      return count
    case .gone:
      failed.append(index)
      return 0
    }
  }

  // MARK: - Closing

  /// Begins the closing handshake, after the queued output.
  func close(_ index: ConnectionSlot, _ code: CloseCode, _ reason: String) {
    guard connections[index].isOpen, let session = connections[index].session else {
      return
    }
    connections[index].phase = .closing
    counts.closes[code.rawValue, default: 0] += 1
    connections[index].deadline = now.monotonic + Self.lingerMilliseconds
    control.removeAll(keepingCapacity: true)
    shard.beginClosing(session)
    connections[index].webSocket.close(code, reason: reason, to: &control, maskKey: 0)
    shard.append(frames: control, to: session)
    toReap.append(index)
    // The peer's close frame has to be read, although its other input is no longer processed.
    if connections[index].isPaused {
      connections[index].isPaused = false
      observer?.loopPaused(index.stream, false)
      readOn(index)
    }
  }

  func closeWhatIsToBeClosed() {
    for closing in shard.takeClosings() {
      let index = ConnectionSlot(closing.connection)
      guard connections.contains(index), connections[index].session == closing.session
      else { continue }
      switch connections[index].phase {
      case .exchange(let exchange): end(exchange, index, closing.reason, closing.text)
      case .canary: finishCanary(index, .failed(closing.text))
      case .bot: remove(index)
      default: close(index, CloseCode(rawValue: closing.reason.rawValue), closing.text)
      }
    }
  }

  /// Advances connections that are being closed, and exchanges and canaries.
  func reap() {
    for index in failed { remove(index) }
    failed.removeAll(keepingCapacity: true)
    let due = toReap
    toReap.removeAll(keepingCapacity: true)
    for index in due where connections.contains(index) {
      switch connections[index].phase {
      case .closing: reapClosing(index)
      case .exchange(let exchange): advance(exchange, index)
      case .canary(let run): advance(run, index)
      default: continue
      }
    }
  }

  private func reapClosing(_ index: ConnectionSlot) {
    guard let session = connections[index].session else { return }
    if shard.hasOutput(session) || world.hasBacklog(index.stream) {
      // During a shutdown a client that does not read is not waited for.
      if shutdown != nil { remove(index) }
      return
    }
    // The close frame of a peer that floods is not awaited.
    if connections[index].webSocket.state == .closed || isFlooding(index) { linger(index) }
  }

  /// Shuts the writing side, and waits for the peer to do the same.
  func linger(_ index: ConnectionSlot) {
    if let session = connections[index].session {
      shard.close(session)
      connections[index].session = nil
    }
    connections[index].pending = []
    connections[index].phase = .lingering
    connections[index].isPaused = false
    connections[index].deadline = now.monotonic + Self.lingerMilliseconds
    world.finish(index.stream)
    if connections[index].isReadable { unfinished.append(index) }
  }

  // MARK: - Time

  /// Prolongs all deadlines by the time in which this loop did not run: what peers sent meanwhile still
  /// waits in their sockets.
  private func grantStalledTime() {
    let stalled = now.monotonic - sweptAt
    sweptAt = now.monotonic
    guard stalled > Int64(Self.sweepMilliseconds) + Self.stallMilliseconds else { return }
    for index in connections.slots {
      connections[index].heardAt += stalled
      connections[index].takenAt += stalled
      if connections[index].deadline > 0 { connections[index].deadline += stalled }
      if let exchange = connections[index].exchange { exchange.pollsUntil += stalled }
      if case .canary(let run) = connections[index].phase { run.deadline += stalled }
    }
    shutdown?.deadline += stalled
  }

  /// Checks every connection for expired deadlines, silence and lost peers.
  package func sweep() {
    now = world.moment()
    grantStalledTime()
    releaseHeld()
    let limits = context.limits
    let heartbeat = Int64(limits.heartbeatSeconds) * 1000
    let idle = Int64(limits.idleTimeoutSeconds) * 1000
    for place in 0..<connections.capacity {
      let index = ConnectionSlot(place)
      guard connections.contains(index) else { continue }
      switch connections[index].phase {
      case .handshake:
        if connections[index].isAuthenticated {
          sweepIdle(index)
        } else {
          sweepUnauthenticated(index)
        }
      case .exchange(let exchange): expire(exchange, index)
      case .canary(let run): expire(run, index)
      case .bot(let bot): sweepBot(bot, index)
      case .closing, .lingering:
        if now.monotonic >= connections[index].deadline { remove(index) }
      case .open, .echo:
        guard connections[index].isAuthenticated else {
          sweepUnauthenticated(index)
          continue
        }
        var silence = now.monotonic - connections[index].heardAt
        if idle > 0, silence >= idle, isSlowed(index) {
          readSlowed(index)
          guard connections.contains(index), connections[index].isOpen else { continue }
          silence = now.monotonic - connections[index].heardAt
        }
        if idle > 0, silence >= idle, now.monotonic - connections[index].takenAt >= idle {
          context.violations.count(.idleTimeout)
          remove(index)
        } else if heartbeat > 0, silence >= heartbeat, !connections[index].wasPinged {
          ping(index)
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
    giveBackAgain()
  }

  /// Whether a connection is not read from because its user sends too much.
  func isSlowed(_ index: ConnectionSlot) -> Bool {
    connections[index].isPaused && connections[index].session.map { shard.isSlowed($0) } == true
  }

  /// Reads once from a slowed connection that has not been read for the whole idle timeout, to find
  /// a pong or the end of the stream, and keeps the input. If the pending input is at its limit, a
  /// pong could only follow it, so an acknowledgement of the ping by the peer's system counts
  /// instead.
  private func readSlowed(_ index: ConnectionSlot) {
    guard connections[index].pending.count <= Self.readBytes else {
      let acknowledgedAt = now.monotonic - world.millisecondsSinceAcknowledgement(index.stream)
      connections[index].heardAt = max(connections[index].heardAt, acknowledgedAt)
      connections[index].wasPinged = false
      return
    }
    connections[index].isPaused = false
    connections[index].isReadable = true
    read(index)
    // If nothing came, nothing was processed, and the session waits as before.
    if connections.contains(index), connections[index].isOpen,
      let session = connections[index].session, shard.isSlowed(session)
    {
      connections[index].isPaused = true
    }
  }

  func ping(_ index: ConnectionSlot) {
    guard let session = connections[index].session else { return }
    connections[index].wasPinged = true
    control.removeAll(keepingCapacity: true)
    connections[index].webSocket.appendPing([], to: &control, maskKey: 0)
    shard.append(frames: control, to: session)
  }

  /// Ends a connection that has waited too long between two HTTP requests.
  private func sweepIdle(_ index: ConnectionSlot) {
    let deadline = connections[index].deadline
    guard deadline > 0, now.monotonic >= deadline else { return }
    if connections[index].unfinishedHead != nil { context.violations.count(.handshakeTimeout) }
    remove(index)
  }

  /// Limits the time for which a connection is unauthenticated, and the number of these per
  /// address.
  private func sweepUnauthenticated(_ index: ConnectionSlot) {
    let deadline = connections[index].deadline
    if deadline > 0, now.monotonic >= deadline {
      context.violations.count(.handshakeTimeout)
      if connections[index].awaitsRequest {
        remove(index)
      } else {
        close(
          index, CloseCode(rawValue: CloseReason.authenticationTimeout.rawValue),
          "authentication timed out")
      }
      return
    }
    // The client of a proxy is known by its request.
    let isUnassigned = connections[index].peer == .proxy && connections[index].awaitsRequest
    guard !isUnassigned, !connections[index].isCountedAsUnauthenticated,
      let host = connections[index].host
    else { return }
    guard connections[index].sweepsWaited >= Self.sweepsGranted else {
      connections[index].sweepsWaited += 1
      return
    }
    if context.admission.countUnauthenticated(host) {
      connections[index].isCountedAsUnauthenticated = true
    } else {
      context.violations.count(.unauthenticatedPerAddress)
      reject(index)
    }
  }

  /// Rejects a connection whose address has too many unauthenticated ones: with a close frame or an
  /// HTTP response, depending on its state. During the TLS handshake no answer is possible.
  private func reject(_ index: ConnectionSlot) {
    let limit = context.limits.unauthenticatedPerAddress
    let text =
      "too many unauthenticated connections from this address (limit: \(limit)); try again later"
    if connections[index].isOpen {
      close(index, .tryAgainLater, text)
    } else if world.isShakingHands(index.stream) {
      linger(index)
    } else {
      answer(HTTPResponse(status: 503, text: "\(text).\n"), index)
    }
  }
}
