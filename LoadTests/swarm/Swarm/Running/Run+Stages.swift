internal import Client
public import EventLoop
internal import Glibc
internal import Platform
internal import Wire

/// The stages from the last event of the plan to the end.
extension Run {
  func look() {
    waiting.look(at: .now())
    takeNoteOfProgress()
    takeNoteOfSecond()
    keepDiskFull()
    takeNoteOfEnd()
    switch stage {
    case .playing, .over: break
    case .draining:
      if isDrained || isPatienceOver { readEverything() }
    case .reading:
      goOnReading()
    case .drainingAgain:
      if isDrained || isPatienceOver { leave() }
    case .leaving:
      let isDone = isTrueOfAll { $0.peer.hasEnded }
      if isDone || waiting.milliseconds > Self.leaveMilliseconds {
        stage = .over
        loop.stop()
      }
    }
  }

  /// Begins to wait for the last messages; the whole plan has been played.
  func drain() {
    guard stage == .playing else { return }
    stage = .draining
    endHostilities()
    // The load is over; later resource use is not measured.
    let now = Instant.now()
    outcome.load.ownCores = watch.coreShare(at: now, cpu: ProcessorTime.own)
    if let cluster {
      let seconds = max(Double(now.nanoseconds(since: start)) / 1e9, 0.001)
      outcome.load.relayCores = (cluster.cpuSeconds - relayCPUAtStart) / seconds
    }
    waiting.begin(at: now)
    for member in members { member?.peer.readFreely() }
    log("\(Decimal.text(Double(elapsed) / 1e9)) s: all sent; waiting for outstanding messages")
  }

  private func takeNoteOfProgress() {
    let count = oracle.deliveries + outcome.latencies.count(.ack) + outcome.resumes
    // A relay that has broken a promise may repeat itself forever, which is not progress.
    if count != progress, stage != .leaving, oracle.counts.isEmpty {
      progress = count
      waiting.begin(at: .now())
    }
  }

  private var isPatienceOver: Bool {
    waiting.milliseconds > scenario.patienceMilliseconds
  }

  /// Whether every client is connected, has no unacknowledged sends, and has reached the head.
  private var isDrained: Bool {
    isTrueOfAll { member in
      member.peer.isLive && member.peer.execution.session.unacknowledged == 0
        && oracle.isAtHead(member.peer.receiver)
    }
  }

  /// Begins with the member for which the condition was false last time, so that repeated checks of
  /// many members are cheap.
  private func isTrueOfAll(_ condition: (Member) -> Bool) -> Bool {
    for offset in members.indices {
      let index = (firstLook + offset) % members.count
      if let member = members[index], !condition(member) {
        firstLook = index
        return false
      }
    }
    return true
  }

  // MARK: Reading back

  private func readEverything() {
    closeSecond()
    stage = .reading
    waiting.begin(at: .now())
    var shared: [Int] = []
    var direct: [String: [Int]] = [:]
    for (room, name) in naming.rooms.enumerated() {
      // Only its two users may read a direct room.
      if let peers = RoomName.peers(of: name) {
        direct[peers.0, default: []].append(room)
      } else {
        shared.append(room)
      }
    }
    // In a deterministic order.
    for (user, rooms) in direct.sorted(by: { $0.key < $1.key }) {
      for start in stride(from: 0, to: rooms.count, by: Self.roomsPerReader) {
        unread.append((user, Array(rooms[start...].prefix(Self.roomsPerReader))))
      }
    }
    var readerCount = 0
    while !shared.isEmpty {
      unread.append(
        (
          "sw-\(naming.tag.prefix(8))-reader-\(readerCount)",
          Array(shared.prefix(Self.roomsPerReader))
        ))
      shared.removeFirst(min(shared.count, Self.roomsPerReader))
      readerCount += 1
    }
    goOnReading()
  }

  private func goOnReading() {
    for index in busyReaders {
      let finished = readers[index].finished
      guard finished.count == readers[index].heads.count else { continue }
      for (room, head) in finished { oracle.readBack(room: room, upTo: head) }
      readers[index].peer.close()
    }
    busyReaders.removeAll { readers[$0].peer.hasEnded }
    if busyReaders.isEmpty, unread.isEmpty {
      stage = .drainingAgain
      return waiting.begin(at: .now())
    }
    if isPatienceOver {
      // Rooms that have been read count; the others are reported as unreadable.
      for index in busyReaders {
        for (room, head) in readers[index].finished { oracle.readBack(room: room, upTo: head) }
        oracle.demandHead(of: readers[index].peer.receiver)
        readers[index].peer.close()
      }
      unread = []
    }
    while busyReaders.count < Self.readersAtOnce {
      guard let (user, rooms) = unread.popLast() else { break }
      let peer = Peer(
        receiver: oracle.addReader(), user: user,
        idPrefix: "\(naming.tag)-r\(readers.count)", on: peers)
      busyReaders.append(readers.count)
      readers.append(
        Reader(peer: peer, heads: Dictionary(uniqueKeysWithValues: rooms.map { ($0, nil) })))
      for room in rooms { peer.join(naming.rooms[room], from: .after(0, epoch: nil)) }
      peer.startSession()
    }
  }

  // MARK: Leaving

  func leave() {
    stage = .leaving
    waiting.begin(at: .now())
    let now = elapsed
    for index in members.indices {
      guard let member = members[index] else { continue }
      if member.peer.isLive {
        oracle.demandHead(of: index)
      } else if member.wasWelcome, let since = member.awaitedSince {
        outcome.latencies.record(.resume, intended: since, happened: now)
      }
      for room in plan.clients[index].rooms { member.peer.leave(naming.rooms[room]) }
      member.peer.close()
    }
    for reader in readers where !reader.peer.hasEnded { reader.peer.close() }
  }
}

extension Run: EventHandler {
  /// See `EventHandler`.
  public func ready(_ registration: Registration, token: UInt64, _ readiness: Readiness) {
    if token & PeerLoop.tokenBit != 0 { return peers.executors[token]?.ready(readiness) ?? () }
    if token & HostilePeer.tokenBit != 0 {
      hostiles[Int(token & ~HostilePeer.tokenBit)]?.ready(readiness)
      return
    }
    if token == Token.power { return powerReturns() }
    if token == Token.database { return takeDatabaseEvents() }
    guard token == Token.signal, let signal = signals.next(), stage != .over else { return }
    outcome.interruptingSignal = signal
    mark("interrupted")
    if stage == .playing || stage == .draining { closeSecond() }
    stage = .over
    loop.stop()
  }

  /// See `EventHandler`.
  public func timerFired(_ timer: TimerID, token: UInt64) {
    if token & PeerLoop.tokenBit != 0 { return peers.executors[token]?.timerFired(timer) ?? () }
    switch token {
    case Token.next: playDueEvents()
    case Token.pulse:
      // Only during the load: reading back is not timed.
      guard stage == .playing else { return }
      watch.pulse(at: .now())
      loop.schedule(at: watch.next, token: Token.pulse)
    default:
      look()
      loop.schedule(afterMilliseconds: Self.lookMilliseconds, token: Token.look)
    }
  }

  /// See `EventHandler`.
  public func beforeSleep() { peers.executors.flush() }
}
