import Relay
import WebSocket
import Wire

/// From the shard to streams, and the ways in which a connection ends.
extension ConnectionLoop {
  /// Writes what a session has; how many bytes were taken.
  func write(_ index: Int, _ bytes: Span<UInt8>) -> Int {
    switch connections[index].phase {
    case .bot(let bot): return tell(bot, bytes)
    case .exchange(let exchange):
      // The shard is at work: what follows from it has to wait.
      exchange.take(bytes, wall: now.wall)
      toReap.append(Int32(index))
      return bytes.count
    case .canary(let run):
      run.take(bytes)
      toReap.append(Int32(index))
      return bytes.count
    default: return writeToStream(index, bytes)
    }
  }

  /// Writes to a stream; how many bytes were taken.
  func writeToStream(_ index: Int, _ bytes: Span<UInt8>) -> Int {
    let taken = note(world.write(index, bytes), index)
    if connections[index].isClosing, taken == bytes.count, !world.hasBacklog(index) {
      toReap.append(Int32(index))
    }
    return taken
  }

  /// Sends what a stream has taken before.
  func drain(_ index: Int) {
    _ = note(world.drain(index), index)
    if connections[index].isClosing, !world.hasBacklog(index) {
      toReap.append(Int32(index))
    }
  }

  private func note(_ outcome: StreamWrite, _ index: Int) -> Int {
    switch outcome {
    case .taken(let count, let sent):
      if sent > 0 {
        connections[index].takenAt = now.monotonic
        counts.bytesOut += sent
      }
      return count
    case .gone:
      failed.append(Int32(index))
      return 0
    }
  }

  // MARK: - Closing

  /// Begins the closing handshake behind what is queued.
  func close(_ index: Int, _ code: CloseCode, _ reason: String) {
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
    toReap.append(Int32(index))
    // Its close is awaited, though nothing else of it is taken any more.
    if connections[index].isPaused {
      connections[index].isPaused = false
      observer?.loopPaused(index, false)
      readOn(index)
    }
  }

  func closeWhatIsToBeClosed() {
    for closing in shard.takeClosings() {
      let index = Int(closing.connection)
      switch connections[index].phase {
      case .exchange(let exchange): end(exchange, index, closing.reason, closing.text)
      case .canary: finishCanary(index, .failed(closing.text))
      case .bot: remove(index)
      default: close(index, CloseCode(rawValue: closing.reason.rawValue), closing.text)
      }
    }
  }

  /// Goes on with connections that are being closed, as far as they have come.
  func reap() {
    for index in failed { remove(Int(index)) }
    failed.removeAll(keepingCapacity: true)
    let due = toReap
    toReap.removeAll(keepingCapacity: true)
    for index in due.map(Int.init) {
      switch connections[index].phase {
      case .closing: reapClosing(index)
      case .exchange(let exchange): advance(exchange, index)
      case .canary(let run): advance(run, index)
      default: continue
      }
    }
  }

  private func reapClosing(_ index: Int) {
    guard let session = connections[index].session else { return }
    if shard.hasOutput(session) || world.hasBacklog(index) {
      // Who does not read is not waited for where everything ends.
      if shutdown != nil { remove(index) }
      return
    }
    // The close of who floods is not looked for among all the rest.
    if connections[index].webSocket.state == .closed || isFlooding(index) { linger(index) }
  }

  /// All is said: shuts the writing side and waits for the peer to do the same.
  func linger(_ index: Int) {
    if let session = connections[index].session {
      shard.close(session)
      connections[index].session = nil
    }
    connections[index].pending = []
    connections[index].phase = .lingering
    connections[index].isPaused = false
    connections[index].deadline = now.monotonic + Self.lingerMilliseconds
    world.finish(index)
    if connections[index].isReadable { unfinished.append(Int32(index)) }
  }

  // MARK: - Time

  /// Looks at every connection: which wait has come to its end, who is silent, who is gone.
  package func sweep() {
    now = world.moment()
    let limits = context.limits
    let heartbeat = Int64(limits.heartbeatSeconds) * 1000
    let idle = Int64(limits.idleTimeoutSeconds) * 1000
    for index in connections.indices {
      switch connections[index].phase {
      case .free: continue
      case .handshake:
        if connections[index].isIdentified {
          sweepRested(index)
        } else {
          sweepUnidentified(index)
        }
      case .exchange(let exchange): expire(exchange, index)
      case .canary(let run): expire(run, index)
      case .bot(let bot): sweepBot(bot, index)
      case .closing, .lingering:
        if now.monotonic >= connections[index].deadline { remove(index) }
      case .open, .echo:
        guard connections[index].isIdentified else {
          sweepUnidentified(index)
          continue
        }
        var silence = now.monotonic - connections[index].heardAt
        if idle > 0, silence >= idle, isSlowed(index) {
          readSlowed(index)
          guard connections[index].isOpen else { continue }
          silence = now.monotonic - connections[index].heardAt
        }
        if idle > 0, silence >= idle, now.monotonic - connections[index].takenAt >= idle {
          context.violations.note(.idleTimeout)
          remove(index)
        } else if heartbeat > 0, silence >= heartbeat, !connections[index].wasPinged {
          ping(index)
        }
      }
    }
    let isLoose = connections.count > Self.tableAtLeast && connectionCount < connections.count / 4
    if isLoose || shard.isLoose { wantsToShrink = true }
    context.budgets.forgetRested(now: now.monotonic)
    context.addressBudgets.forgetRested(now: now.monotonic)
    giveBackAgain()
  }

  /// Whether a connection is not read from because its user sends too much.
  func isSlowed(_ index: Int) -> Bool {
    connections[index].isPaused && connections[index].session.map { shard.isSlowed($0) } == true
  }

  /// A slowed connection has not been read from for as long as one may be silent: reads once, to see
  /// a pong or the end, and keeps what came. Where as much is kept as may be, a pong would lie behind it;
  /// but the peer's system has acknowledged the ping, if it is there.
  private func readSlowed(_ index: Int) {
    guard connections[index].pending.count <= Self.readBytes else {
      let acknowledgedAt = now.monotonic - world.millisecondsSinceAcknowledgement(index)
      connections[index].heardAt = max(connections[index].heardAt, acknowledgedAt)
      connections[index].wasPinged = false
      return
    }
    connections[index].isPaused = false
    connections[index].isReadable = true
    read(index)
    // Where nothing came nothing was taken, and the session waits as before.
    if connections[index].isOpen, let session = connections[index].session,
      shard.isSlowed(session)
    {
      connections[index].isPaused = true
    }
  }

  func ping(_ index: Int) {
    guard let session = connections[index].session else { return }
    connections[index].wasPinged = true
    control.removeAll(keepingCapacity: true)
    connections[index].webSocket.appendPing([], to: &control, maskKey: 0)
    shard.append(frames: control, to: session)
  }

  /// Between two requests over HTTP.
  private func sweepRested(_ index: Int) {
    let deadline = connections[index].deadline
    guard deadline > 0, now.monotonic >= deadline else { return }
    if !connections[index].pending.isEmpty { context.violations.note(.handshakeTimeout) }
    remove(index)
  }

  /// A connection that has not said who it is costs others little, and not for long.
  private func sweepUnidentified(_ index: Int) {
    let deadline = connections[index].deadline
    if deadline > 0, now.monotonic >= deadline {
      context.violations.note(.handshakeTimeout)
      if connections[index].awaitsRequest {
        remove(index)
      } else {
        close(
          index, CloseCode(rawValue: CloseReason.authenticationTimeout.rawValue),
          "say who you are sooner")
      }
      return
    }
    guard !connections[index].isCountedAsUnidentified, let host = connections[index].host else {
      return
    }
    guard connections[index].sweepsWaited >= Self.sweepsGranted else {
      connections[index].sweepsWaited += 1
      return
    }
    if context.admission.countUnidentified(host) {
      connections[index].isCountedAsUnidentified = true
    } else {
      context.violations.note(.unauthenticatedPerAddress)
      turnAway(index)
    }
  }

  /// Too many of its address are waited for already. It is told so in whatever it speaks by now; in
  /// the middle of TLS's handshake there is nothing to say it in.
  private func turnAway(_ index: Int) {
    let limit = context.limits.unauthenticatedPerAddress
    let text = "\(limit) connections from this address have yet to say who they are; try later"
    if connections[index].isOpen {
      close(index, .tryAgainLater, text)
    } else if world.isShakingHands(index) {
      linger(index)
    } else {
      answer(HTTPResponse(status: 503, text: "\(text).\n").bytes, index)
    }
  }
}
