import Mixing

/// Builds a plan from a scenario.
struct PlanBuilder {
  let scenario: Scenario
  private let seed: UInt64
  var random: SplitMix64
  private(set) var rooms: [Plan.Room] = []
  var clients: [Plan.Client] = []
  var events: [Plan.Event] = []
  let duration: UInt64
  /// When each client connects; `nil` if it never does.
  var arrivals: [UInt64?] = []
  /// The times when each client is away.
  var absences: [[Range<UInt64>]] = []
  private var messagesLeftOut = 0

  /// The minimum distance of a send, or of a delivery that counts, from the client's own arrival
  /// and departure: events at the edges would measure the client, not the relay.
  static let marginNanoseconds: UInt64 = 1_000_000_000

  init(_ scenario: Scenario, seed: UInt64) {
    self.scenario = scenario
    self.seed = seed
    random = SplitMix64(seed: seed)
    duration = scenario.phases.reduce(0) { $0 + UInt64($1.milliseconds) * 1_000_000 }
  }

  mutating func build() -> Plan {
    planPhases()
    placeClients()
    planConnections()
    planAbsences()
    planMessages()
    planChaos()
    planHostilities()
    // Stable: events at the same time keep the order in which they were planned.
    let order = events.indices.sorted { (events[$0].at, $0) < (events[$1].at, $1) }
    return Plan(
      scenario: scenario.name, seed: seed, rooms: rooms, clients: clients,
      events: order.map { events[$0] }, duration: duration,
      clientsLeftOut: arrivals.count { $0 == nil }, messagesLeftOut: messagesLeftOut)
  }

  private mutating func planPhases() {
    var start: UInt64 = 0
    for phase in scenario.phases {
      events.append(.init(at: start, kind: .phase(phase.name)))
      start += UInt64(phase.milliseconds) * 1_000_000
    }
  }

  // MARK: Rooms

  mutating func placeClients() {
    clients = scenario.clients.flatMap { group in
      Array(repeating: Plan.Client(persona: group.persona, rooms: []), count: group.count)
    }
    random.shuffle(&clients)
    for group in scenario.rooms {
      switch group.shape {
      case .one, .many: placeEvenly(group)
      case .zipf: placeByZipf(group)
      case .dms: placeInPairs(group)
      }
    }
  }

  /// The clients with rooms, in the order of the plan.
  private var honest: [Int] { clients.indices.filter { !clients[$0].persona.isHostile } }

  private mutating func placeEvenly(_ group: Scenario.RoomGroup) {
    let first = rooms.count
    let count = group.shape == .one ? 1 : group.count
    rooms += (0..<count).map { .group(group.name, $0) }
    for (place, client) in honest.enumerated() {
      for turn in 0..<(group.shape == .one ? 1 : group.perClient) {
        clients[client].rooms.append(first + (place * group.perClient + turn) % count)
      }
    }
  }

  private mutating func placeByZipf(_ group: Scenario.RoomGroup) {
    let first = rooms.count
    rooms += (0..<group.count).map { .group(group.name, $0) }
    var sums: [Double] = []
    for rank in 1...group.count {
      let weight = 1 / Exponential.power(Double(rank), group.exponent)
      sums.append((sums.last ?? 0) + weight)
    }
    for client in honest {
      var chosen = Set<Int>()
      while chosen.count < group.perClient {
        let point = random.unit() * sums[sums.count - 1]
        var room = sums.firstIndex { $0 > point } ?? 0
        // If the room is taken, the next free one is used, so that the loop ends for every
        // exponent.
        while chosen.contains(room) { room = (room + 1) % group.count }
        chosen.insert(room)
        clients[client].rooms.append(first + room)
      }
    }
  }

  private mutating func placeInPairs(_ group: Scenario.RoomGroup) {
    // A circle, in which each client has a room with the next ones. In a small circle no room is
    // created twice.
    var known = Set<[Int]>()
    let circle = honest
    for (place, client) in circle.enumerated() {
      for distance in 1...min(group.perClient, circle.count - 1) {
        let peer = circle[(place + distance) % circle.count]
        guard known.insert([min(client, peer), max(client, peer)]).inserted else { continue }
        clients[client].rooms.append(rooms.count)
        clients[peer].rooms.append(rooms.count)
        rooms.append(.direct(client, peer))
      }
    }
  }

  // MARK: Connections

  private mutating func planConnections() {
    arrivals = Array(repeating: nil, count: clients.count)
    var next = 0
    var start: UInt64 = 0
    for phase in scenario.phases {
      for time in phase.connections.times(milliseconds: phase.milliseconds, &random) {
        guard next < clients.count else { return }
        arrivals[next] = start + time
        if !clients[next].persona.isHostile {
          events.append(.init(at: start + time, kind: .connect(client: next)))
        }
        next += 1
      }
      start += UInt64(phase.milliseconds) * 1_000_000
    }
  }

  private mutating func planAbsences() {
    absences = Array(repeating: [], count: clients.count)
    for client in clients.indices {
      let (online, offline): (Int, Int)
      switch clients[client].persona {
      case .flapper(let on, let off): (online, offline) = (on, off)
      case .mobile(let awake, let asleep): (online, offline) = (awake, asleep)
      default: continue
      }
      guard let arrival = arrivals[client] else { continue }
      // The first online period has a random length, so that clients do not all leave together.
      let share = 0.5 + random.unit() / 2
      var cut = arrival + UInt64(Double(online) * share * 1e6)
      while true {
        let wake = cut + UInt64(offline) * 1_000_000
        // A client that leaves returns before the end, so that the last messages reach everyone.
        guard wake < duration else { break }
        events.append(.init(at: cut, kind: .cut(client: client)))
        events.append(.init(at: wake, kind: .wake(client: client)))
        absences[client].append(cut..<wake)
        cut = wake + UInt64(online) * 1_000_000
      }
    }
  }

  // MARK: Messages

  private mutating func planMessages() {
    var speakers = clients.indices.filter {
      clients[$0].persona.speaks && arrivals[$0] != nil && !clients[$0].rooms.isEmpty
    }
    random.shuffle(&speakers)
    var numbers = Array(repeating: 0, count: clients.count)
    var turn = 0
    var ahead = 0
    var start: UInt64 = 0
    for phase in scenario.phases {
      for time in phase.messages.times(milliseconds: phase.milliseconds, &random) {
        let now = start + time
        if ahead > 0 {
          // This message was already sent by a burst.
          ahead -= 1
          continue
        }
        guard let client = speaker(at: now, among: speakers, &turn) else {
          messagesLeftOut += 1
          continue
        }
        var count = 1
        if case .burst(let size) = clients[client].persona { count = size }
        ahead = count - 1
        let room = clients[client].rooms[random.below(clients[client].rooms.count)]
        for _ in 0..<count {
          numbers[client] += 1
          let bytes = scenario.textBytes
          events.append(
            .init(
              at: now,
              kind: .send(
                client: client, room: room, number: numbers[client],
                textBytes: bytes.lowerBound + random.below(bytes.count))))
        }
      }
      start += UInt64(phase.milliseconds) * 1_000_000
    }
  }

  /// Returns the next client in turn that is present, and was and will be for a margin of time.
  private func speaker(at now: UInt64, among speakers: [Int], _ turn: inout Int) -> Int? {
    for _ in speakers.indices {
      let client = speakers[turn % speakers.count]
      turn += 1
      if isThere(client, at: now) { return client }
    }
    return nil
  }

  private func isThere(_ client: Int, at now: UInt64) -> Bool {
    let margin = Self.marginNanoseconds
    guard let arrival = arrivals[client], arrival + margin <= now else { return false }
    return absences[client].allSatisfy {
      now + margin < $0.lowerBound || $0.upperBound + margin <= now
    }
  }
}

extension Exponential {
  /// Returns `base` to the power of `exponent`, for positive arguments and a result below 2^60.
  static func power(_ base: Double, _ exponent: Double) -> Double {
    let scaled = exponent * logarithm(base) / 0.693_147_180_559_945_3
    let whole = scaled.rounded(.down)
    // 2^fraction by its series: |x| < 0.694, so 20 terms are exact to the last digits.
    let x = (scaled - whole) * 0.693_147_180_559_945_3
    var sum = 1.0
    for term in stride(from: 20, through: 1, by: -1) { sum = 1 + x / Double(term) * sum }
    return sum * Double(sign: .plus, exponent: Int(whole), significand: 1)
  }
}

extension Plan {
  /// Plans a run of a scenario.
  ///
  /// - Parameter seed: Replaces the scenario's seed.
  public init(_ scenario: Scenario, seed: UInt64? = nil) {
    var builder = PlanBuilder(scenario, seed: seed ?? scenario.seed)
    self = builder.build()
  }
}
