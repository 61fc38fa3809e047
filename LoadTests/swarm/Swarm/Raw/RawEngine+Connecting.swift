internal import Client
internal import EventLoop
internal import Glibc
internal import Platform
internal import Mixing
internal import TLS
internal import WebSocket

/// From the start to membership of rooms.
extension RawEngine {
  /// The limit for a server's messages before a connection is a member.
  static let greetingLimitBytes = 1 << 20

  mutating func begin() {
    startedAt = .now()
    progress = (-1, startedAt)
    loop.schedule(at: startedAt.adding(milliseconds: Self.lookMilliseconds), token: Token.look)
    if case .connect = plan.work {
      note(.measuring)
      measuredFrom = counts
      measuringSince = .now()
    }
    connectMore()
  }

  mutating func connectMore() {
    while underWay < plan.connectsAtOnce, nextToConnect < connections.count, failure == nil {
      let index = nextToConnect
      nextToConnect += 1
      do throws(SystemError) {
        let sources = plan.sourceAddresses
        let socket = try Socket.connect(
          to: addresses[index % addresses.count],
          from: sources.isEmpty ? nil : sources[index % sources.count])
        let registration = try loop.register(
          socket.descriptor, for: .writable, token: UInt64(index))
        connections[index].socket = BorrowedSocket(descriptor: socket.release())
        connections[index].registration = registration
        if let authorities {
          connections[index].tls = TLSChannel(client: authorities, host: url.host)
        }
        connections[index].phase = .connecting
        connections[index].startedAt = Instant.now().nanoseconds
        underWay += 1
      } catch {
        fail("cannot connect to \(url): \(error)")
      }
    }
  }

  /// Handles an event of a connection that is not a member yet.
  mutating func goOn(_ index: Int, _ readiness: Readiness) {
    if case .connecting = connections[index].phase {
      do throws(SystemError) {
        try connections[index].socket.finishConnecting()
        if let registration = connections[index].registration {
          try loop.change(registration, for: .readable)
        }
      } catch {
        return fail("cannot connect to \(url): \(error)")
      }
      let values = values(of: index)
      let handshake = ClientHandshake(
        host: url.authority, target: RawText.filled(target, values),
        subprotocols: plan.dialect.subprotocol.map { [$0] } ?? [],
        headers: plan.dialect.headers.map { ($0.name, RawText.filled($0.value, values)) },
        nonce: (0..<16).map { _ in UInt8(truncatingIfNeeded: random.next()) })
      connections[index].phase = .handshaking(handshake)
      connections[index].output = handshake.request
      return markDirty(index)
    }
    var atEnd = false
    if !readiness.isDisjoint(with: [.readable, .closed, .failed]) {
      switch Self.receive(from: connections[index], into: &buffer) {
      case .bytes(let count):
        connections[index].received += buffer[Self.readStart..<Self.readStart + count]
        if let failure = connections[index].failure { return fail("\(url): \(failure)") }
        // The handshake may be over, or continue.
        if connections[index].hasOutput { markDirty(index) }
      case .wouldBlock: break
      case .end: atEnd = true
      case .failed(let error): return fail("\(url), before the join: \(error)")
      }
    }
    advance(index, atEnd: atEnd)
  }

  /// Advances as far as the received bytes allow.
  private mutating func advance(_ index: Int, atEnd: Bool) {
    if case .handshaking(var handshake) = connections[index].phase {
      do throws(HandshakeFailure) {
        let received = connections[index].received
        let answer = try handshake.read(
          received.span, headerLimitBytes: Link.headerLimitBytes, atEnd: atEnd)
        guard let answer else {
          connections[index].phase = .handshaking(handshake)
          if atEnd { fail("\(url) closed the connection during the handshake") }
          return
        }
        connections[index].received.removeFirst(answer.length)
        connections[index].phase = .joining(step: 0)
      } catch {
        return fail("\(url): \(error)")
      }
    }
    guard case .joining(var step) = connections[index].phase else { return }
    let prelude = comesBack(index) ? [] : plan.dialect.prelude
    while step < prelude.count {
      switch prelude[step] {
      case .send(let text):
        send(text, from: index)
        connections[index].askedAt = Instant.now().nanoseconds
      case .await(let mark):
        guard let found = awaitMessage(mark, index) else { return }
        guard found else {
          connections[index].phase = .joining(step: step)
          if atEnd { fail("\(url) closed the connection before it sent \(mark)") }
          return
        }
        recordAnswer(index)
      }
      step += 1
    }
    open(index)
  }

  private mutating func recordAnswer(_ index: Int) {
    guard connections[index].askedAt > 0 else { return }
    result.latencies.record(
      .join, intended: connections[index].askedAt, happened: Instant.now().nanoseconds)
    connections[index].askedAt = 0
  }

  /// Whether it is a member of a resume, which is silent until all members return together.
  private func comesBack(_ index: Int) -> Bool {
    if case .resume = plan.work { !connections[index].isFiller } else { false }
  }

  private mutating func open(_ index: Int) {
    connections[index].phase = .open
    let now = Instant.now()
    result.latencies.record(
      .connect, intended: connections[index].startedAt, happened: now.nanoseconds)
    underWay -= 1
    memberCount += 1
    let rest = connections[index].received
    connections[index].received = []
    if !rest.isEmpty { take(rest, index) }
    if memberCount == connections.count {
      result.connections = memberCount
      result.connectSeconds = Double(now.nanoseconds(since: startedAt)) / 1e9
      everybodyIsThere()
    }
  }

  /// Removes the messages up to the one that contains `mark`.
  ///
  /// - Returns: Whether it has arrived; `nil` if the run has failed.
  private mutating func awaitMessage(_ mark: String, _ index: Int) -> Bool? {
    while true {
      let bytes = connections[index].received
      let header: FrameHeader?
      do throws(ProtocolViolation) {
        header = try FrameHeader.read(
          bytes.span, as: .client, payloadLimitBytes: Self.greetingLimitBytes)
      } catch {
        fail("\(url): \(error)")
        return nil
      }
      guard let header, bytes.count >= header.headerLength + header.payloadLength else {
        return false
      }
      let end = header.headerLength + header.payloadLength
      let start = header.headerLength
      let payload = String(decoding: bytes[start..<end], as: UTF8.self)
      connections[index].received.removeFirst(end)
      if header.opcode == .ping {
        connections[index].output += RawFrame.masked(
          Array(bytes[start..<end]), .pong, key: random.maskKey())
        markDirty(index)
        continue
      }
      let isRefusal = plan.dialect.errorPrefix.map { prefix in
        RawText.begins(bytes.span.extracting(start..<end), with: Array(prefix.utf8))
      }
      if header.opcode == .close || isRefusal == true {
        let words = header.opcode == .close ? String(payload.dropFirst(2)) : payload
        fail("\(url) refused a client: \(words.isEmpty ? "it closed the connection" : words)")
        return nil
      }
      if payload.contains(mark) { return true }
    }
  }

  mutating func send(_ text: String, from index: Int) {
    let filled = RawText.filled(text, values(of: index))
    connections[index].output += RawFrame.masked(
      Array(filled.utf8), plan.dialect.isBinary ? .binary : .text, key: random.maskKey())
    markDirty(index)
  }

  mutating func fail(_ reason: String) {
    guard stage != .over else { return }
    failure = failure ?? RawLoad.Failure(description: reason, isUsage: false)
    stage = .over
    loop.stop()
  }

  /// Closes everything; an unfinished measurement counts up to now.
  mutating func end() {
    if stage == .measuring { conclude() }
    stage = .over
    for index in connections.indices { close(index) }
  }

  mutating func close(_ index: Int) {
    if let registration = connections[index].registration { loop.deregister(registration) }
    connections[index].registration = nil
    connections[index].phase = .closed
    let descriptor = connections[index].socket.descriptor
    guard descriptor >= 0 else { return }
    // Resets the connection: an orderly close would block the port for a minute, and ports are
    // scarce.
    connections[index].socket.resetOnClose()
    Glibc.close(descriptor)
    connections[index].socket = BorrowedSocket(descriptor: -1)
  }
}
