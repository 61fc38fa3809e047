internal import Client
import Terminal
internal import Wire

/// Passes the traffic of all connections to the oracle and the time measurements: the relay's messages
/// as they were received, with duplicates and in any order.
extension Run {
  /// The peer begins to connect.
  func peerConnects(_ peer: Peer) {
    guard peer.receiver < members.count, let member = members[peer.receiver] else { return }
    // Measured from the first attempt: the wait before it is the client's choice, but further attempts
    // count.
    if member.wasWelcome, member.awaitedSince == nil {
      members[peer.receiver]?.awaitedSince = elapsed
    }
  }

  func peer(_ peer: Peer, transmits message: ClientMessage) {
    switch message {
    case .join(let join): observe(join, of: peer)
    case .joinRooms(let joins):
      for case .success(let join) in joins { observe(join, of: peer) }
    case .leave(let room, forget: _):
      if let room = naming.room(room) { oracle.left(peer.receiver, room: room) }
    case .send(let send):
      if let id = naming.send(ofID: send.id) { oracle.transmitted(id) }
    default: break
    }
  }

  private func observe(_ join: ClientMessage.Join, of peer: Peer) {
    guard let room = naming.room(join.room) else { return }
    oracle.asked(peer.receiver, toJoin: room, after: join.after)
  }

  func peer(_ peer: Peer, received message: ServerMessage, _ json: Span<UInt8>) {
    let before = oracle.violations.count
    memory.add(json, to: peer.receiver)
    switch message {
    case .message(let entry):
      // After the leave, messages may still be in transit.
      if stage == .leaving { return }
      let intended = oracle.delivered(entry, to: peer.receiver, payload: json)
      if let intended { timeDelivery(to: peer.receiver, intended: intended) }
      if !catchUps.isEmpty, let room = naming.room(entry.room) {
        takeNoteOfCatchUp(peer.receiver, room, entry.seq)
      }
    case .ack(let ack):
      if stage == .leaving { return }
      if let intended = oracle.acknowledged(ack, to: peer.receiver) {
        let now = arrived
        outcome.latencies.record(.ack, intended: intended, happened: now)
        takeNoteOfAck(of: peer.receiver, intended: intended, at: now)
        recorder.acknowledged(intended: intended, happened: now)
        recover { $0.answered(intended: intended) }
      }
    case .joined(let joined):
      if stage == .leaving { return }
      oracle.joined(joined, by: peer.receiver)
      if joined.head > joined.after, peer.receiver < members.count,
        members[peer.receiver]?.isSlow == false, let room = naming.room(joined.room)
      {
        catchUps.begin(peer.receiver, room: room, head: joined.head, at: arrived)
      }
    case .error(let error) where error.code == .unavailable && error.id != nil:
      outcome.unavailable += 1
    default: break
    }
    if oracle.violations.count > before {
      oracle.explain(from: before, memory.lines(of: peer.receiver, oracle))
    }
  }

  private func takeNoteOfAck(of receiver: Int, intended: UInt64, at now: UInt64) {
    if receiver < members.count, let since = members[receiver]?.connectedSince, since <= intended {
      outcome.latencies.record(.ackConnected, intended: intended, happened: now)
    }
    if let lastAckAt, !recoveries.isEmpty {
      outcome.latencies.record(.gap, intended: lastAckAt, happened: now)
    }
    lastAckAt = now
  }

  private func timeDelivery(to receiver: Int, intended: UInt64) {
    guard receiver < timedSince.count, timedSince[receiver] <= intended else { return }
    let now = arrived
    outcome.latencies.record(.deliver, intended: intended, happened: now)
    recorder.delivered(intended: intended, happened: now)
  }

  /// Returns how many of the bytes, which begin with a frame, are whole frames that need not be
  /// decoded, because they are known entries in the expected order.
  func peer(_ peer: Peer, knows bytes: Span<UInt8>) -> Oracle.KnownRun? {
    // Fresh readers check everything again, and track their own progress.
    guard peer.receiver < timedSince.count, stage != .leaving else { return nil }
    return oracle.known(bytes, to: peer.receiver)
  }

  /// The session has accepted them.
  func peer(_ peer: Peer, passed run: Oracle.KnownRun) {
    memory.add(run)
    oracle.pass(run)
    if !catchUps.isEmpty {
      takeNoteOfCatchUp(run.receiver, run.room, run.first + Int64(run.count) - 1)
    }
    let since = timedSince[run.receiver]
    guard since < .max else { return }
    let now = arrived
    for intended in oracle.intended(of: run) where since <= intended {
      outcome.latencies.record(.deliver, intended: intended, happened: now)
      recorder.delivered(intended: intended, happened: now)
    }
  }

  private func takeNoteOfCatchUp(_ receiver: Int, _ room: Int, _ seq: Int64) {
    guard let since = catchUps.reached(receiver, room: room, seq: seq) else { return }
    outcome.latencies.record(.catchUp, intended: since, happened: arrived)
  }

  /// Sets since when a member has all its rooms, and which deliveries are timed.
  func setOnline(_ member: Int, _ since: UInt64?) {
    members[member]?.onlineSince = since
    let isSlow = members[member]?.isSlow ?? true
    timedSince[member] = isSlow ? .max : since ?? .max
  }

  /// The connection has ended or could not be established; `cut` also causes this.
  func peer(_ peer: Peer, lostConnection error: ClientError) {
    let receiver = peer.receiver
    oracle.disconnected(receiver)
    guard receiver < members.count else { return }
    if isCutting || peer.isAsleep { catchUps.forget(receiver) }
    members[receiver]?.roomsToJoin = plan.clients[receiver].rooms.count
    members[receiver]?.connectedSince = nil
    guard stage != .leaving, !peer.isAsleep else { return }
    recover { $0.lost(receiver) }
    if isCutting { return }
    switch error {
    case .unreachable, .unresolved, .refused, .handshake: outcome.attemptsFailed += 1
    default: outcome.connectionsLost += 1
    }
    outcome.lastLoss = TerminalText.line("\(error)")
  }

  func peer(_ peer: Peer, _ event: ClientEvent) {
    let receiver = peer.receiver
    if receiver >= members.count { return reader(receiver, event) }
    switch event {
    case .welcomed(let welcome):
      if outcome.allowance == nil { outcome.allowance = .init(welcome.limits) }
      guard let member = members[receiver], !member.wasWelcome else { return }
      members[receiver]?.wasWelcome = true
      outcome.connected += 1
      if let since = member.awaitedSince {
        outcome.latencies.record(.connect, intended: since, happened: elapsed)
      }
    case .joined: roomJoined(receiver)
    case .refused(let send, let error):
      if let id = naming.send(ofID: send.id) { oracle.refused(id, error) }
      outcome.lastRefusal = TerminalText.line(error.message)
    case .joinRefused(let room, let error):
      outcome.lastRefusal = TerminalText.line("\(room): \(error.message)")
      roomJoined(receiver)
    default: break
    }
  }

  private func roomJoined(_ receiver: Int) {
    guard let member = members[receiver], member.roomsToJoin > 0 else { return }
    members[receiver]?.roomsToJoin -= 1
    guard member.roomsToJoin == 1 else { return }
    members[receiver]?.connectedSince = elapsed
    if member.onlineSince == nil {
      // The first time, `connect` is measured at the `welcome`.
      if member.wasOnline, let since = member.awaitedSince { resumed(since) }
      setOnline(receiver, elapsed)
      members[receiver]?.wasOnline = true
    } else if let since = member.awaitedSince {
      resumed(since)
    }
    members[receiver]?.awaitedSince = nil
    recover { $0.resumed(receiver) }
  }

  private func resumed(_ since: UInt64) {
    wasStartedWithoutSpace = false
    outcome.resumes += 1
    outcome.latencies.record(.resume, intended: since, happened: elapsed)
  }

  private func reader(_ receiver: Int, _ event: ClientEvent) {
    let index = receiver - members.count
    switch event {
    case .joined(let joined):
      guard let room = naming.room(joined.room) else { return }
      // If the relay invents later entries, the oracle reports them.
      if readers[index].heads[room] == .some(nil) {
        readers[index].heads[room] = .some(joined.head)
      }
    case .entry(let entry):
      guard let room = naming.room(entry.room) else { return }
      readers[index].positions[room] = entry.seq
    default: break
    }
  }
}

extension Oracle {
  /// Adds the frames received around violations to those that have none yet.
  mutating func explain(from index: Int, _ frames: [String]) {
    for index in index..<violations.count where violations[index].frames.isEmpty {
      violations[index].frames = frames
    }
  }
}
