internal import Client
internal import EventLoop
internal import Wire

/// What goes over the connections, told to the oracle and the clocks.
extension Run: PeerObserver {
  func peerConnects(_ peer: Peer) {
    guard peer.receiver < members.count, let member = members[peer.receiver] else { return }
    // How long a client waits before it tries is its own affair; how often it must try is not.
    if member.wasWelcome, member.awaitedSince == nil {
      members[peer.receiver]?.awaitedSince = elapsed
    }
  }

  func peer(_ peer: Peer, transmits message: ClientMessage) {
    switch message {
    case .join(let join):
      guard let room = naming.room(join.room) else { return }
      oracle.asked(peer.receiver, toJoin: room, after: join.after)
    case .leave(let room, forget: _):
      if let room = naming.room(room) { oracle.left(peer.receiver, room: room) }
    case .send(let send):
      if let id = naming.send(ofID: send.id) { oracle.transmitted(id) }
    default: break
    }
  }

  func peer(_ peer: Peer, received message: ServerMessage, _ json: Span<UInt8>) {
    let before = oracle.violations.count
    memories[peer.receiver].add(json)
    switch message {
    case .message(let entry):
      // After the leave the rest of what was on its way may come.
      if stage == .leaving { return }
      let intended = oracle.delivered(entry, to: peer.receiver)
      if let intended { timeDelivery(to: peer.receiver, intended: intended) }
    case .ack(let ack):
      if stage == .leaving { return }
      if let intended = oracle.acknowledged(ack, to: peer.receiver) {
        let now = elapsed
        outcome.latencies.record(.ack, intended: intended, happened: now)
        recorder.acknowledged(intended: intended, happened: now)
        recover { $0.answered(intended: intended) }
      }
    case .joined(let joined):
      if stage == .leaving { return }
      oracle.joined(joined, by: peer.receiver)
    case .error(let error) where error.code == .unavailable && error.id != nil:
      outcome.unavailable += 1
    default: break
    }
    if oracle.violations.count > before {
      oracle.explain(from: before, memories[peer.receiver].lines)
    }
  }

  private func timeDelivery(to receiver: Int, intended: UInt64) {
    guard receiver < members.count, let member = members[receiver], !member.isSlow,
      let online = member.onlineSince, online <= intended
    else { return }
    let now = elapsed
    outcome.latencies.record(.deliver, intended: intended, happened: now)
    recorder.delivered(intended: intended, happened: now)
  }

  func peer(_ peer: Peer, lostConnection error: ClientError) {
    let receiver = peer.receiver
    oracle.disconnected(receiver)
    guard receiver < members.count else { return }
    members[receiver]?.roomsToJoin = plan.clients[receiver].rooms.count
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
    case .welcomed:
      guard let member = members[receiver], !member.wasWelcome else { return }
      members[receiver]?.wasWelcome = true
      outcome.connected += 1
      if let since = member.awaitedSince {
        outcome.latencies.record(.connect, intended: since, happened: elapsed)
      }
    case .joined: roomJoined(receiver)
    case .refused(let send, let error):
      if let id = naming.send(ofID: send.id) { oracle.refused(id) }
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
    if member.onlineSince == nil {
      // The first time, `connect` has been timed by the welcome.
      if member.wasOnline, let since = member.awaitedSince { resumed(since) }
      members[receiver]?.onlineSince = elapsed
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
      // Later entries, if a relay makes them up, are for the oracle.
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
  /// Adds what was received around violations to them, where nothing is said yet.
  mutating func explain(from index: Int, _ frames: [String]) {
    for index in index..<violations.count where violations[index].frames.isEmpty {
      violations[index].frames = frames
    }
  }
}
