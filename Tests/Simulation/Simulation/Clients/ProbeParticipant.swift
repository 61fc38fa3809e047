internal import Relay
internal import WebSocket
internal import Wire

/// A client that uses every feature of the protocol, in any order: repeated joins from any position
/// and from old epochs, repeated sends, requests, leaves.
final class ProbeParticipant: Participant {
  private struct Line {
    var send: ClientMessage.Send
    var isInFlight = false
  }
  private struct Position {
    var last: Int64
    var epoch: String
    var lineage: [EpochStart]
  }

  let name: String
  let user: String
  private(set) var end: ClientEnd?
  private unowned let world: Simulation
  private let index: Int
  private var acts = true
  private var isOpen = false
  private var heardAt: Int64 = 0
  private var nextAct: Int64
  private var connectAt: Int64
  private var sent = 0
  private var outbox: [String: [Line]] = [:]
  /// The time until which lines to a room wait.
  private var waitUntil: [String: Int64] = [:]
  private var acknowledged: [ClientMessage.Send] = []
  /// The `seq` of its own acknowledged entries.
  private var own: [String: [Int64]] = [:]
  private var positions: [String: Position] = [:]
  private var joined: Set<String> = []
  private var epochs: [String] = ["never"]

  private static let rooms = Simulation.rooms + Simulation.dens + Simulation.dens
  /// The users that it makes something in a room.
  private static let users = ["u0", "u1", "u1", "u2", "u2", "u3", "mallory1"]

  init(_ name: String, user: String, _ world: Simulation) {
    self.name = name
    self.user = user
    self.world = world
    index = world.clients.count
    connectAt = world.now.monotonic + world.pick(0...200)
    nextAct = connectAt
  }

  // MARK: - A turn

  func turn() {
    let now = world.now.monotonic
    if end == nil, connectAt <= now {
      end = world.connect(user, seed: world.random.next())
      end?.joinsWithRef = true
      heardAt = now
      if end == nil { connectAt = now + world.pick(20...500) }
    }
    takeEvents()
    if let end, now - heardAt > 9000, !end.isStopped {
      if now - heardAt > 12_000 {
        world.referee.tally.count(.clientTimedOut)
        drop()
      } else {
        end.send(.ping(t: nil))
      }
    }
    if isOpen, acts, nextAct <= now {
      act()
      nextAct = now + world.pick(0...world.scenario.pauseMilliseconds * 2)
    }
    pump()
    end?.flush(world)
    schedule()
  }

  private func schedule() {
    let now = world.now.monotonic
    var next = [now + 3000]
    if end == nil { next.append(connectAt) }
    if isOpen, acts { next.append(nextAct) }
    next += waitUntil.values.filter { $0 > now }
    schedule(index, at: next, in: world)
  }

  private func takeEvents() {
    guard let current = end else { return }
    let limit = world.chance(60) ? 65_536 : Int.random(in: 1...400, using: &world.random)
    if current.hasSomethingToRead { heardAt = world.now.monotonic }
    for event in current.receive(limit: limit, now: world.now.monotonic) {
      switch event {
      case .opened: break
      case .message(let message): take(message)
      case .closed, .lost: drop()
      }
      guard end === current else { return }
    }
  }

  private func drop() {
    if let end { world.abandon(end) }
    end = nil
    isOpen = false
    joined = []
    waitUntil = [:]
    connectAt = world.now.monotonic + world.pick(0...500)
    for room in outbox.keys {
      for index in outbox[room, default: []].indices { outbox[room]?[index].isInFlight = false }
    }
  }

  private func take(_ message: ServerMessage) {
    switch message {
    case .welcome:
      isOpen = true
      for den in Simulation.dens where world.referee.ledger.room(den).head == 0 { govern(den) }
      for room in positions.keys.sorted() where world.chance(70) { join(room) }
    case .joined(let told):
      joined.insert(told.room)
      positions[told.room] = Position(
        last: told.after, epoch: told.epoch, lineage: told.lineage)
      if !epochs.contains(told.epoch) { epochs.append(told.epoch) }
    case .left(let room, _): joined.remove(room)
    case .message(let entry): positions[entry.room]?.last = entry.seq
    case .ack(let ack):
      own[ack.room, default: []].append(ack.seq)
      if let line = outbox[ack.room]?.firstIndex(where: { $0.send.id == ack.id }),
        let send = outbox[ack.room]?.remove(at: line).send
      {
        acknowledged.append(send)
        if acknowledged.count > 50 { acknowledged.removeFirst() }
      }
    case .error(let error):
      guard let room = error.room else { return }
      if error.re == .send, error.retryAfterMilliseconds == nil {
        outbox[room]?.removeAll { $0.send.id == error.id }
      }
      if error.re == .join { joined.remove(room) }
      guard let wait = error.retryAfterMilliseconds else { return }
      guard error.re == .send, let id = error.id else { return }
      waitUntil[room] = max(waitUntil[room] ?? 0, world.now.monotonic + wait)
      if let line = outbox[room]?.firstIndex(where: { $0.send.id == id && $0.isInFlight }) {
        outbox[room]?[line].isInFlight = false
      }
    default: break
    }
  }

  // MARK: - Actions

  private func act() {
    guard let end else { return }
    let room = room(in: Self.rooms, using: &world.random)
    if Simulation.dens.contains(room) {
      let governs = world.referee.ledger.room(room).rights.governs(user)
      if world.chance(governs ? 50 : 5) { govern(room) }
    }
    switch Int.random(in: 0..<40, using: &world.random) {
    case 0..<14 where outbox[room, default: []].count < 20:
      for _ in 0...Int.random(in: 0...2, using: &world.random) {
        sent += 1
        let id = "\(name)-\(sent)"
        let text = Speech.text(name, sent, using: &world.random)
        outbox[room, default: []].append(
          Line(send: world.chance(15) ? data(room, id) : .init(room: room, id: id, text: text)))
        // The same id again, before the first is answered.
        if world.chance(5) { outbox[room]?.append(Line(send: other(than: id, in: room))) }
      }
    case 14..<20: join(room)
    case 20..<22: end.send(.join(anyJoin(of: room)))
    case 22:
      let rooms = Set(Self.rooms).sorted().filter {
        RoomName.isOpen($0, to: user) && world.chance(60)
      }
      if !rooms.isEmpty { end.send(.joinRooms(rooms.map { .success(anyJoin(of: $0)) })) }
    case 23..<25: end.send(.leave(room: room, forget: world.chance(20)))
    case 25: sendAgain()
    case 26..<28:
      end.send(.history(historyRequest(room)))
    case 28: end.send(.rooms(.init()))
    case 29: end.send(.typing(room: room, on: world.chance(60)))
    case 30..<32: end.send(.read(room: room, seq: world.pick(0...100)))
    case 32: end.send(.received(room: room, seq: world.pick(0...100)))
    case 33: end.send(.ping(t: Array("[1,{}]".utf8)))
    case 34..<36 where outbox[room, default: []].count < 20: change(in: room)
    case 36 where world.chance(60):
      var seq = max(1, (positions[room]?.last ?? 1) - world.pick(0...8))
      if world.chance(50), let mine = own[room]?.suffix(12).randomElement(using: &world.random) {
        seq = mine
        // Its copy goes with it.
        if world.chance(40), outbox[room, default: []].count < 20 {
          sent += 1
          outbox[room, default: []].append(
            Line(send: .init(room: room, id: "\(name)-\(sent)", delete: mine)))
        }
      }
      end.send(.report(room: room, seq: seq, reason: "spam"))
    case 36: end.send(.people(.init(limit: Int(world.pick(1...200)))))
    case 37: end.send(.presence(isAway: world.chance(50)))
    case 38 where world.chance(30): end.close(.goingAway)
    case 38: end.send(.blocks)
    case 39:
      let others = ["u0", "u0", "u1", "u2", "mallory1"].filter { $0 != user }
      end.send(
        .block(user: others.randomElement(using: &world.random) ?? "u0", on: world.chance(50)))
    default: break
    }
  }

  /// Sends a change of an entry that exists, or does not.
  private func change(in room: String) {
    sent += 1
    let id = "\(name)-\(sent)"
    let last = positions[room]?.last ?? 0
    var target = world.pick(max(0, last - 12)...last + 1)
    if world.chance(60), let mine = own[room]?.suffix(12).randomElement(using: &world.random) {
      target = mine
    }
    let send: ClientMessage.Send
    switch Int.random(in: 0..<10, using: &world.random) {
    case 0..<3: send = .init(room: room, id: id, edit: target, text: "\(name) meant \(sent)")
    case 3..<5: send = .init(room: room, id: id, delete: target)
    case 5 where world.referee.ledger.room(room).rights.governs(user):
      send = .init(room: room, id: id, delete: world.pick(max(0, last - 12)...last + 1))
    case 5..<7:
      send = .init(room: room, id: id, react: target, emoji: "👍", isOn: world.chance(70))
    case 7..<9: send = .init(room: room, id: id, text: "\(name) \(sent)", replyTo: target)
    default:
      let source = self.room(in: Self.rooms, using: &world.random)
      let seq = world.pick(1...20)
      send = .init(room: room, id: id, forward: Forward(room: source, seq: seq))
    }
    outbox[room, default: []].append(Line(send: send))
  }

  /// Changes who may do what in a room, or makes it; it may not be this user's to change.
  private func govern(_ room: String) {
    sent += 1
    let id = "\(name)-\(sent)"
    let isNew = world.referee.ledger.room(room).head == 0
    let send: ClientMessage.Send
    if isNew || world.chance(20) {
      var change = RoomSettings.Change()
      if isNew || world.chance(50) { change.access = world.chance(60) ? .private : .open }
      if isNew || world.chance(30) { change.history = world.chance(50) ? .all : .joined }
      if change.isEmpty { change.posting = world.chance(70) ? .everyone : .moderators }
      send = .init(room: room, id: id, settings: change)
    } else {
      let user = Self.users.randomElement(using: &world.random) ?? user
      let isHonest = user.hasPrefix("u")
      let roles: [Wire.Role] =
        isHonest
        ? [.owner, .moderator, .member, .member, .member, .muted, .none, .none, .banned]
        : [.member, .member, .none, .banned]
      var change = MemberChange(
        user: user, role: roles.randomElement(using: &world.random) ?? .member)
      if [.muted, .banned].contains(change.role), world.chance(70) {
        change.until = world.now.wall + world.pick(1...4000)
      }
      send = .init(room: room, id: id, member: change)
    }
    outbox[room, default: []].append(Line(send: send))
  }

  private func join(_ room: String) {
    let position = positions[room]
    end?.send(
      .join(
        .init(
          room: room, after: position?.last ?? 0, epoch: position?.epoch,
          lineage: world.chance(60) ? position?.lineage : nil, subscribers: world.chance(50))))
  }

  private func anyJoin(of room: String) -> ClientMessage.Join {
    let after: Int64? = world.chance(30) ? nil : world.pick(0...80)
    let epoch = world.chance(60) ? epochs.randomElement(using: &world.random) : nil
    return .init(room: room, after: after, epoch: epoch, lineage: anyLineage())
  }

  /// Returns epochs in any order, or none.
  private func anyLineage() -> [EpochStart]? {
    guard world.chance(40) else { return nil }
    return (0..<Int(world.pick(0...5))).map { _ in
      EpochStart(
        epoch: epochs.randomElement(using: &world.random) ?? "never",
        after: world.chance(90) ? world.pick(0...80) : 9_007_199_254_740_991)
    }
  }

  /// Sends an acknowledged id again, with other content.
  private func sendAgain() {
    guard let known = acknowledged.randomElement(using: &world.random),
      waitUntil[known.room] ?? 0 <= world.now.monotonic
    else { return }
    var again = known
    if world.chance(50) { again = other(than: known.id, in: known.room) }
    end?.send(.send(again))
  }

  /// Returns a send with a known id and, most likely, other content.
  private func other(than id: String, in room: String) -> ClientMessage.Send {
    switch Int.random(in: 0..<4, using: &world.random) {
    case 0: .init(room: room, id: id, delete: world.pick(1...20))
    case 1: data(room, id)
    default: .init(room: room, id: id, text: "\(name) again \(sent)")
    }
  }

  private func data(_ room: String, _ id: String) -> ClientMessage.Send {
    let body = Array("\"data\":{\"by\": \"\(name)\", \"n\":\(sent).0}".utf8)
    return .init(room: room, id: id, kind: .data, body: body)
  }

  private func historyRequest(_ room: String) -> ClientMessage.HistoryRequest {
    let limit = Int.random(in: 1...60, using: &world.random)
    switch Int.random(in: 0..<3, using: &world.random) {
    case 0: return .init(room: room, limit: limit, isFolded: world.chance(50))
    case 1: return .init(room: room, before: world.pick(1...100), limit: limit)
    default:
      let position = positions[room]
      if world.chance(50), let position {
        return .init(
          room: room, after: position.last, limit: limit, epoch: position.epoch,
          lineage: world.chance(70) ? position.lineage : nil)
      }
      return .init(
        room: room, after: world.pick(0...100), limit: limit,
        epoch: world.chance(50) ? epochs.randomElement(using: &world.random) : nil,
        lineage: anyLineage())
    }
  }

  /// Sends the lines that may be sent now: in order, and after a refusal only when all are
  /// answered.
  private func pump() {
    guard isOpen, let end, end.output.count < 50_000 else { return }
    for room in outbox.keys.sorted() {
      if let until = waitUntil[room] {
        guard world.now.monotonic >= until,
          outbox[room]?.contains(where: \.isInFlight) == false
        else { continue }
        waitUntil[room] = nil
      }
      for line in outbox[room, default: []].indices where outbox[room]?[line].isInFlight == false {
        guard let send = outbox[room]?[line].send else { continue }
        outbox[room]?[line].isInFlight = true
        end.send(.send(send))
      }
    }
  }

  // MARK: - End of the run

  func stopActing() {
    acts = false
    world.wake(client: index, in: 0)
  }

  var isIdle: Bool {
    guard let end, isOpen, end.witness.isAnswered, end.output.isEmpty else { return false }
    return outbox.values.allSatisfy(\.isEmpty)
      && joined.allSatisfy { positions[$0]?.last == world.referee.ledger.room($0).head }
  }

  func checkIdle() {
    guard !isIdle else { return }
    let open = outbox.values.reduce(0) { $0 + $1.count }
    world.referee.fault(
      "\(name): not indexed: \(open) lines, answered: \(end?.witness.isAnswered == true), at "
        + joined.sorted().map { room in
          "\(room) \(positions[room]?.last ?? -1) of \(world.referee.ledger.room(room).head)"
        }.joined(separator: ", "))
  }
}
