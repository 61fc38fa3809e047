internal import Client
internal import Platform
internal import Relay
internal import SQLiteLog
internal import WebSocket
internal import Wire

/// A client program that uses the project's own client, on a simulated connection and clock. It keeps the entries that it receives, as such a program would, and checks them against
/// the log at the end.
final class SessionParticipant: Participant {
  let name: String
  let user: String
  private(set) var end: ClientEnd?
  private unowned let world: Simulation
  let execution: SessionExecution
  private let index: Int
  private var acts = true
  private var nextAct: Int64 = 0
  private var connectAt: Int64?
  private var lines = 0
  /// The ids of the lines to each room, in sending order.
  private var said: [String: [String]] = [:]
  /// The received entries, by room.
  private var held: [String: Held] = [:]
  /// The rooms that it wants to join.
  private var wanted: Set<String> = []

  private struct Held {
    var entries: [Int64: Entry] = [:]
    var last: Int64?
    var isJoined = false
    /// Whether it was joined with the newest entries: the first one that arrives sets the position.
    var isLoose = false
    /// Entries up to here may be missing, since the relay has said so.
    var holeBefore: Int64 = 0
  }

  init(_ name: String, user: String, _ world: Simulation) {
    self.name = name
    self.user = user
    self.world = world
    index = world.clients.count
    var settings = SessionSettings()
    settings.welcomeTimeoutMilliseconds = 3000
    settings.pingAfterMilliseconds = 4000
    settings.pongTimeoutMilliseconds = 3000
    settings.backoffLimitMilliseconds = 1000
    settings.window = Int.random(in: 1...40, using: &world.random)
    execution = SessionExecution(
      ClientSession(
        idPrefix: "\(name)-session", seed: world.random.next(), settings: settings))
  }

  private func fault(_ text: String) { world.referee.fault("\(name): \(text)") }

  // MARK: - A turn

  func turn() {
    let now = world.now.monotonic
    if let at = connectAt, at <= now { connect() }
    takeEvents()
    tick()
    if acts, nextAct == 0 {
      nextAct = now + 1
      for room in Simulation.rooms where RoomName.isOpen(room, to: user) && world.chance(70) {
        join(room, from: world.chance(50) ? .after(0, epoch: nil) : .head)
      }
      perform { $0.start(at: $1, &$2) }
    } else if acts, nextAct <= now {
      act()
      nextAct = now + world.pick(0...world.scenario.pauseMilliseconds * 2)
    }
    flush()
    schedule()
  }

  private func flush() {
    guard let end else { return }
    end.flush(world)
    setCongested(end.output.count > 20_000)
  }

  private func schedule() {
    var next: [Int64] = []
    if acts { next.append(nextAct) }
    if let connectAt { next.append(connectAt) }
    if let deadline = execution.session.deadline {
      next.append(Int64(deadline.nanoseconds / 1_000_000) + 1)
    }
    schedule(index, at: next, in: world)
  }

  private func connect() {
    connectAt = nil
    end = world.connect(user, seed: world.random.next())
    if end == nil { perform { $0.disconnected(.lost(nil), at: $1, &$2) } }
  }

  private func takeEvents() {
    guard let current = end else { return }
    let limit = world.chance(60) ? 65_536 : Int.random(in: 1...400, using: &world.random)
    if current.hasSomethingToRead { hear() }
    for event in current.receive(limit: limit, now: world.now.monotonic) {
      switch event {
      case .opened: break
      case .message(let message): receive(message) { _ in }
      case .closed(let code): lose(.closed(code, reason: ""))
      case .lost: lose(.lost(nil))
      }
      guard end === current else { break }
    }
  }

  private func lose(_ error: ClientError) {
    drop()
    perform { $0.disconnected(error, at: $1, &$2) }
  }

  private func drop() {
    if let end { world.abandon(end) }
    end = nil
    for room in held.keys { held[room]?.isJoined = false }
  }

  private func join(_ room: String, from start: JoinStart) {
    perform { session, _, actions in session.join(room, from: start, &actions) }
    wanted.insert(room)
  }

  func report(_ event: ClientEvent) {
    switch event {
    case .joined(let joined):
      var room = held[joined.room] ?? Held()
      switch joined.resume {
      case .ok: break
      case .truncated: room.holeBefore = joined.after + 1
      case .diverged: room.entries = room.entries.filter { $0.key <= joined.after }
      case .reset:
        room.entries = [:]
        room.holeBefore = joined.after + 1
      }
      if let last = room.last, joined.resume == .ok, !room.isLoose {
        if joined.after > last { fault("joined \(joined.room) after \(joined.after), has \(last)") }
        room.last = last
      } else if let last = room.last, joined.resume == .truncated {
        room.last = max(last, joined.after)
      } else {
        if room.last == nil {
          room.holeBefore = joined.after + 1
          room.isLoose = true
        }
        room.last = joined.after
      }
      room.isJoined = true
      held[joined.room] = room
    case .entry(let entry):
      guard let last = held[entry.room]?.last else {
        fault("received an entry of \(entry.room), which is not joined")
        return
      }
      if entry.seq != last + 1, held[entry.room]?.isLoose != true || entry.seq <= last {
        fault("\(entry.room) \(entry.seq) after \(last)")
      }
      held[entry.room]?.isLoose = false
      held[entry.room]?.entries[entry.seq] = entry
      held[entry.room]?.last = entry.seq
    case .left(let room, _): held[room] = nil
    case .refused(let send, let error): fault("\(send.id) was refused permanently: \(error)")
    case .joinRefused(let room, let error): fault("\(room) cannot be joined: \(error)")
    case .ended(let error): fault("the session ended: \(error)")
    case .disconnected(let error, _): world.trace("\(self.name) lost its connection: \(error)")
    case .welcomed, .acknowledged, .answered, .message, .tokenWanted: break
    }
  }

  // MARK: - Actions

  private func act() {
    let room = room(in: Simulation.rooms, using: &world.random)
    switch Int.random(in: 0..<30, using: &world.random) {
    case 0..<16 where execution.session.unacknowledged < 40:
      // Sometimes many lines in a row, as from a script.
      let more: Int64 = world.chance(5) ? 40 : 3
      for _ in 0...world.pick(0...more) {
        lines += 1
        let text = Speech.text(name, lines, using: &world.random)
        said[room, default: []].append(sendText(text, to: room))
      }
    case 16..<18:
      join(room, from: start(of: room))
    case 18:
      perform { session, _, actions in session.leave(room, &actions) }
      held[room] = nil
      wanted.remove(room)
    case 19..<22:
      let last = held[room]?.last ?? 0
      perform { $0.mark(room, received: last, read: last, at: $1, &$2) }
    case 22: request(.typing(room: room, on: world.chance(50)))
    case 23: request(.rooms(.init()))
    case 24: request(.history(.init(room: room, limit: 20, isFolded: world.chance(60))))
    case 25: request(.block(user: user == "u0" ? "u1" : "u0", on: world.chance(50)))
    case 26 where world.chance(50): request(.blocks)
    default: break
    }
  }

  private func request(_ message: ClientMessage) {
    perform { session, _, actions in _ = session.request(message, &actions) }
  }

  /// Forgets the entries of a room, and returns where a program without them starts.
  private func start(of room: String) -> JoinStart {
    held[room] = nil
    return world.chance(50) ? .after(0, epoch: nil) : .newest(5)
  }

  // MARK: - End of the run

  func stopActing() {
    acts = false
    world.wake(client: index, in: 0)
  }

  var isIdle: Bool {
    // It may consider itself connected to a relay that is dead and whose log had the same length by
    // chance.
    guard execution.session.unacknowledged == 0, let end, execution.session.isLive,
      end.link.life == world.life,
      end.witness.isAnswered, end.output.isEmpty
    else { return false }
    return wanted.allSatisfy { name in
      held[name]?.isJoined == true && held[name]?.last == world.referee.ledger.room(name).head
    }
  }

  func checkIdle() {
    let unacknowledged = execution.session.unacknowledged
    if unacknowledged > 0 { fault("\(unacknowledged) lines are unacknowledged") }
    if !execution.session.isLive { fault("not connected at the end") }
    for room in wanted where held[room]?.isJoined != true { fault("never joined \(room)") }
    for (name, room) in held.sorted(by: { $0.key < $1.key }) where room.isJoined {
      let truth = world.referee.ledger.room(name)
      if room.last != truth.head { fault("\(name) ends at \(room.last ?? -1), not \(truth.head)") }
      // It may hold the original content of an entry that was deleted since.
      for (seq, entry) in room.entries
      where seq >= truth.first && truth.entries[seq] != entry && truth.deleted[seq]?.entry != entry
      {
        // A loss of power, or a restored backup, may have undone a deletion that it received.
        if entry.kind == .hidden, world.referee.ledger.hides(seq, in: name, from: user) != false {
          continue
        }
        let mayHaveLost =
          world.scenario.durability == .os || world.referee.tally[.backupRestored] > 0
        if mayHaveLost, entry.isDeleted { continue }
        fault("holds a \(name) \(seq) that differs from the log: \(entry.id)")
      }
      if room.last ?? 0 > truth.head { fault("holds more entries of \(name) than the log") }
    }
    checkOrder()
  }

  /// Checks that its kept lines are in sending order. If entries are removed, their ids are removed
  /// too, and a line that is sent again may be stored late.
  private func checkOrder() {
    guard world.scenario.keepEntriesPerRoom == 0 else { return }
    end?.witness.close()
    for (room, ids) in said where !world.referee.mayBeOvertaken(room, user) {
      let seqs = ids.compactMap {
        world.referee.ledger.seqs[.init(room: room, user: user, id: $0)]
      }
      if seqs != seqs.sorted() { fault("its lines to \(room) are out of order: \(seqs)") }
    }
  }
}

extension SessionParticipant: SessionExecutor {
  var now: Instant { Instant(nanoseconds: UInt64(world.now.monotonic) * 1_000_000) }

  func openConnection() { connectAt = world.now.monotonic + world.pick(0...20) }
  func transmit(_ message: ClientMessage) { end?.send(message) }
  func transmitPing() { end?.ping() }
  func closeConnection() { end?.close(.normal) }

  func abandonConnection(_ code: CloseCode) {
    world.referee.tally.count(.clientTimedOut)
    drop()
  }

  /// Each turn schedules the next one.
  func follow(_ deadline: Instant?) {}
  func retire() {}
}
