internal import Hostile
internal import Mixing
internal import Relay
internal import WebSocket
internal import Wire

/// Chooses by random numbers from the seed.
struct SeedChooser: Chooser {
  var random: SplitMix64
  mutating func choose(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
}

/// The common state of the connections of one adversary.
final class Plot {
  let user: String
  let attack: Attack
  /// The target number of edits, reactions or rooms.
  let strength: Int
  var grammar: HostileGrammar
  private var chooser: SeedChooser
  /// The `seq` of the attacked text; 0 if there is none yet.
  var target: Int64 = 0
  var done = 0
  /// The number of accepted edits of each text in each life of the relay.
  private var edits: [String: Int] = [:]
  /// The accepted emoji of each text in each life of the relay.
  private var emoji: [String: Set<String>] = [:]
  /// The number of times that the prepared entries were used.
  var uses = 0
  private var idCount = 0

  init(_ scenario: Scenario.Adversary, _ user: String, seed: UInt64) {
    chooser = SeedChooser(random: SplitMix64(seed: seed))
    self.user = user
    attack = scenario.attack
    strength = scenario.strength
    let users = [user, "u0", "u1", "nobody"]
    grammar = HostileGrammar(
      name: user,
      rooms: Simulation.rooms + Simulation.dens + [
        "x-\(user)", "dm:\(user):u0", "dm:\(user):u1", "x-none",
      ],
      users: users)
  }

  /// A room that only this adversary uses.
  var room: String { "x-\(user)" }

  /// Returns any message.
  func message() -> [UInt8] { grammar.message(&chooser) }

  /// Returns the id of an edit of the attacked text, or of a reaction to it.
  func nextID(life: Int, emoji: String? = nil) -> String {
    idCount += 1
    return "\(emoji ?? "edit")/\(life)/\(target)/\(idCount)"
  }

  /// Records that an edit or a reaction was accepted.
  /// - Returns: the limit that this exceeds, if any.
  func recordTaken(id: String, _ limits: EntryLimits) -> String? {
    let parts = id.split(separator: "/")
    guard parts.count == 4 else { return nil }
    let place = "\(parts[1])/\(parts[2])"
    if parts[0] == "edit" {
      edits[place, default: 0] += 1
      let count = edits[place] ?? 0
      return limits.editsPerEntry > 0 && count > limits.editsPerEntry
        ? "\(count) edits of one text were accepted, not \(limits.editsPerEntry)" : nil
    }
    emoji[place, default: []].insert(String(parts[0]))
    let count = emoji[place]?.count ?? 0
    return limits.reactionsPerEntry > 0 && count > limits.reactionsPerEntry
      ? "\(count) emoji were given to one text, not \(limits.reactionsPerEntry)" : nil
  }

  func nextID() -> String {
    idCount += 1
    return "\(user)/\(idCount)"
  }

  /// Starts again with another text.
  func beginAnew() {
    target = 0
    done = 0
  }
}

/// One connection of an adversary: sends anything, and checks nothing except that the relay's
/// messages are readable; the honest clients check everything else.
///
/// It limits its unanswered sends: the rate of sends is limited by the relay's budgets, and the
/// simulation is about the cost of each message.
final class Adversary: Participant {
  let name: String
  var user: String { plot.user }
  private(set) var end: ClientEnd?
  private unowned let world: Simulation
  private let plot: Plot
  private let index: Int
  private var acts = true
  private var isOpen = false
  private var connectAt: Int64
  private var nextAct: Int64
  private var unanswered = 0
  /// Whether a request is unanswered; no further one is sent meanwhile.
  private var awaitsReply = false

  private static let window = 16

  init(_ plot: Plot, connection: Int, _ world: Simulation) {
    name = "\(plot.user)/\(connection)"
    self.plot = plot
    self.world = world
    index = world.clients.count
    connectAt = world.now.monotonic + world.pick(0...300)
    nextAct = connectAt
  }

  // MARK: - A turn

  func turn() {
    let now = world.now.monotonic
    if end == nil, acts, connectAt <= now { connect() }
    takeEvents()
    if let end, acts, isOpen, nextAct <= now {
      act(on: end)
      nextAct = now + world.pick(1...pauseMilliseconds)
    }
    end?.flush(world)
    schedule()
  }

  private var pauseMilliseconds: Int64 {
    switch plot.attack {
    case .babble: 160
    case .people: 40
    default: plot.done < plot.strength ? 30 : 300
    }
  }

  private func schedule() {
    let now = world.now.monotonic
    var next: [Int64] = []
    if acts { next.append(end == nil ? connectAt : isOpen ? nextAct : now + 3000) }
    schedule(index, at: next, in: world, pause: 1)
  }

  private func connect() {
    var kind = Link.Kind.hostile
    if plot.attack == .babble {
      let kinds: [Link.Kind] = [.hostile, .hostile, .hostile, .hostile, .anonymous]
      kind = kinds.randomElement(using: &world.random) ?? .hostile
    }
    end = world.connect(user, kind: kind, seed: world.random.next())
    if end == nil { connectAt = world.now.monotonic + world.pick(50...1000) }
  }

  private func takeEvents() {
    guard let current = end else { return }
    for event in current.receive(limit: 65_536, now: world.now.monotonic) {
      switch event {
      case .opened: isOpen = true
      case .message(let message): take(message)
      case .closed, .lost:
        if world.banned.contains(user) { world.referee.tally.count(.bannedRefused) }
        world.referee.tally.count(.attackerDropped)
        drop()
      }
      guard end === current else { return }
    }
  }

  private func drop() {
    if let end { world.abandon(end) }
    end = nil
    isOpen = false
    unanswered = 0
    awaitsReply = false
    connectAt = world.now.monotonic + world.pick(10...1000)
  }

  private func take(_ message: ServerMessage) {
    switch message {
    case .ack(let ack):
      unanswered = max(0, unanswered - 1)
      if ack.room == plot.room, ack.id.hasPrefix("\(user)/t") { plot.target = ack.seq }
      plot.grammar.head = ack.seq
      if ack.room == plot.room, !ack.duplicate, world.bounds.contains(.entries),
        let fault = plot.recordTaken(id: ack.id, world.scenario.entryLimits)
      {
        world.referee.fault(fault)
      }
    case .error(let error):
      if error.re == .send { unanswered = max(0, unanswered - 1) }
      if error.code == .noSuchEntry, error.room == plot.room { plot.beginAnew() }
      awaitsReply = false
    case .people(let page):
      awaitsReply = false
      if let next = page.next { keep(cursor: next) }
    case .rooms, .history: awaitsReply = false
    default: break
    }
  }

  private func keep(cursor: String) {
    plot.grammar.cursors.append(cursor)
    if plot.grammar.cursors.count > 20 { plot.grammar.cursors.removeFirst() }
  }

  // MARK: - Actions

  private func act(on end: ClientEnd) {
    guard end.output.count < 30_000 else { return }
    if end.link.kind == .anonymous || plot.attack == .babble
      || world.attacks.contains(.babble) && world.chance(8)
    {
      babble(end)
      return
    }
    switch plot.attack {
    case .babble: break
    case .edits: edit(end)
    case .reactions: react(end)
    case .rooms: gatherRooms(end)
    case .people: lookForPeople(end)
    case .floods:
      while unanswered < Self.window {
        let room = world.chance(90) ? plot.room : "c"
        send(.init(room: room, id: plot.nextID(), text: "flood of \(user)"), end)
      }
    case .duplicates:
      while unanswered < Self.window {
        send(.init(room: plot.room, id: "once", text: "said once by \(user)"), end)
      }
    }
  }

  private func babble(_ end: ClientEnd) {
    for _ in 0...Int.random(in: 0...3, using: &world.random) {
      end.send(raw: plot.message())
      world.referee.tally.count(.attackMessage)
    }
    if world.chance(3) { end.close(.goingAway) }
    if end.link.kind != .hostile, world.chance(60) { end.close(.normal) }
  }

  private func send(_ send: ClientMessage.Send, _ end: ClientEnd) {
    unanswered += 1
    end.send(raw: ClientMessage.send(send).json)
    world.referee.tally.count(.attackMessage)
  }

  private func ask(_ message: ClientMessage, _ end: ClientEnd) {
    guard !awaitsReply else { return }
    awaitsReply = true
    end.send(raw: message.json)
    world.referee.tally.count(.attackMessage)
  }

  /// Creates the text to attack, if there is none. Returns whether it exists.
  private func hasTarget(_ end: ClientEnd) -> Bool {
    if plot.target > 0 { return true }
    if unanswered == 0 {
      send(.init(room: plot.room, id: "\(user)/t\(plot.nextID())", text: "at first"), end)
    }
    return false
  }

  private func edit(_ end: ClientEnd) {
    guard hasTarget(end) else { return }
    guard plot.done >= plot.strength else {
      while unanswered < Self.window, plot.done < plot.strength {
        plot.done += 1
        send(
          .init(
            room: plot.room, id: plot.nextID(life: world.life), edit: plot.target,
            text: "then \(plot.done)"), end)
        world.referee.tally.count(.attackEdit)
      }
      return
    }
    plot.uses += 1
    if plot.uses % 8 == 0 {
      send(.init(room: plot.room, id: plot.nextID(), delete: plot.target), end)
      plot.beginAnew()
    } else if world.chance(30) {
      ask(.history(.init(room: plot.room, before: plot.target + 1, limit: 1, isFolded: true)), end)
    } else {
      while unanswered < Self.window {
        let source = Forward(room: plot.room, seq: plot.target)
        send(.init(room: "\(plot.room)-2", id: plot.nextID(), forward: source), end)
      }
    }
  }

  private func react(_ end: ClientEnd) {
    guard hasTarget(end) else { return }
    guard plot.done >= plot.strength else {
      while unanswered < Self.window, plot.done < plot.strength {
        plot.done += 1
        // Either a new emoji, long if there are to be many, or one of a few that is added and
        // removed.
        let isFresh = plot.done % 2 == 0 || plot.strength > 1000
        let fresh = "e\(plot.done)" + String(repeating: "e", count: plot.strength > 1000 ? 40 : 0)
        let emoji = isFresh ? fresh : "t\(plot.done / 2 % 3)"
        let isOn = isFresh || plot.done % 4 == 1
        // A reaction that is removed again is not counted.
        let id = isFresh ? plot.nextID(life: world.life, emoji: emoji) : plot.nextID()
        send(
          .init(room: plot.room, id: id, react: plot.target, emoji: emoji, isOn: isOn), end)
        world.referee.tally.count(.attackReaction)
      }
      return
    }
    // Requests the text itself, or the newest entries.
    let before = world.chance(50) ? plot.target + 1 : nil
    let limit = Int(world.pick(1...3))
    ask(.history(.init(room: plot.room, before: before, limit: limit, isFolded: true)), end)
  }

  private func gatherRooms(_ end: ClientEnd) {
    guard plot.done >= plot.strength else {
      while unanswered < Self.window, plot.done < plot.strength {
        plot.done += 1
        let room = "\(plot.room)-\(plot.done)"
        send(.init(room: room, id: plot.nextID(), text: "mine"), end)
        if world.chance(20) { end.send(raw: ClientMessage.join(.init(room: room)).json) }
        world.referee.tally.count(.attackRoom)
      }
      return
    }
    var request = ClientMessage.RoomsRequest(
      limit: [1, 2, 50, 200].randomElement(using: &world.random) ?? 1)
    if world.chance(30) {
      request.cursor = plot.grammar.cursors.randomElement(using: &world.random)
    }
    ask(.rooms(request), end)
  }

  private func lookForPeople(_ end: ClientEnd) {
    let limit = [1, 2, 5, 20, 50, 200].randomElement(using: &world.random) ?? 1
    var request = ClientMessage.PeopleRequest(limit: limit)
    if world.chance(80) {
      request.cursor = plot.grammar.cursors.randomElement(using: &world.random)
    }
    if world.chance(20) { request.cursor = "nobody@\(world.pick(0...300))" }
    ask(.people(request), end)
  }

  // MARK: - End of the run

  /// Disconnects; the honest clients finish what they have begun.
  func stopActing() {
    acts = false
    drop()
  }

  var isIdle: Bool { true }
  func checkIdle() {}
}
