import Mixing
import Relay
import Testing
import Wire

/// One run: clients that do anything they may, sockets that stall, a log that fails. It depends on
/// nothing but the seed.
struct Simulation {
  private var random: SplitMix64
  let relay: SimulatedRelay
  let clients: [ModelClient]
  private let keeps: Int64
  private let rooms = ["a", "b", "c", "dm:u0:u1"]
  private var now: Int64 { relay.now.monotonic }

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
    let isLimited = Bool.random(using: &random)
    let keeps: Int64 = Bool.random(using: &random) ? 0 : 20
    let tailBytes = [0, 3000, 100_000, 8_388_608].randomElement(using: &random) ?? 0
    self.keeps = keeps
    relay = SimulatedRelay(loops: 2, keepEntriesPerRoom: keeps, seed: seed) {
      $0.tailBytes = tailBytes
      $0.limits.budget.sendsPerSecond = isLimited ? 20 : 0
      $0.limits.budget.burst = isLimited ? 5 : 0
      $0.limits.budget.requestsPerSecond = 0
      $0.limits.textBytes = 0
    }
    // Two devices of one user are among them.
    clients = (0..<5).map { ModelClient(name: "c\($0)", user: "u\($0 % 4)") }
  }

  private mutating func chance(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &random) < percent
  }

  private mutating func room(for client: ModelClient) -> String {
    let open = rooms.filter { RoomName.isOpen($0, to: client.user) }
    return open.randomElement(using: &random) ?? "a"
  }

  /// - Returns: the broken promises.
  mutating func run(steps: Int) -> [String] {
    for _ in 0..<steps {
      step()
      for client in clients { client.take(relay) }
      let faults = clients.flatMap(\.faults)
      if !faults.isEmpty { return faults }
    }
    return runUntilIdle()
  }

  private mutating func step() {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<35: act()
    case 35..<75:
      let loop = Int.random(in: 0..<2, using: &random)
      relay.turn(
        loop, deliveries: Int.random(in: 0...3, using: &random),
        messages: Int.random(in: 0...8, using: &random))
    case 75..<85: relay.process()
    case 85..<89: relay.read()
    case 89..<95: read()
    case 95: relay.store.failsCommits = chance(30)
    case 96: relay.store.failsReads = chance(20)
    case 97: relay.advance(Int64.random(in: 100...1500, using: &random))
    default: relay.advance(Int64.random(in: 0...30, using: &random))
    }
  }

  /// Lets a client read what has arrived, or stop reading.
  private mutating func read() {
    guard let socket = clients.randomElement(using: &random)?.socket else { return }
    switch Int.random(in: 0..<4, using: &random) {
    case 0: socket.space = .max
    case 1: socket.space = 0
    default:
      socket.space =
        (socket.space == .max ? 0 : socket.space) + Int.random(in: 1...50_000, using: &random)
    }
  }

  private mutating func act() {
    guard let client = clients.randomElement(using: &random) else { return }
    guard let socket = client.socket, socket.isOpen else {
      client.connected(
        relay.connect(
          client.user, loop: Int.random(in: 0..<2, using: &random),
          compresses: Bool.random(using: &random)))
      for room in client.positions.keys.sorted() where chance(70) {
        client.join(room, fromHead: false)
      }
      return
    }
    let room = room(for: client)
    switch Int.random(in: 0..<40, using: &random) {
    case 0:
      relay.disconnect(socket)
      client.disconnected()
    case 1..<7: client.join(room, fromHead: chance(20))
    case 7..<9: client.leave(room, forget: chance(30), relay)
    case 9..<24:
      for _ in 0...Int.random(in: 0...3, using: &random) {
        let isLarge = chance(10)
        client.write(room, bytes: Int.random(in: 0...(isLarge ? 40_000 : 300), using: &random))
      }
    case 24..<27: client.askForRooms()
    case 27..<29: socket.send(.typing(room: room, on: chance(60)))
    case 29..<31:
      socket.send(.read(room: room, seq: Int64.random(in: 0...100, using: &random)))
    case 31..<33:
      socket.send(.received(room: room, seq: Int64.random(in: 0...100, using: &random)))
    case 33: socket.send(.history(.init(room: room, limit: 500)))
    default: break
    }
    client.pump(now: now)
  }

  /// Repairs every fault and lets every client read, until nothing is left to deliver.
  private func runUntilIdle() -> [String] {
    relay.store.failsCommits = false
    relay.store.failsReads = false
    for client in clients { client.socket?.space = .max }
    for client in clients where client.socket == nil {
      client.connected(relay.connect(client.user))
    }
    for _ in 0..<400 {
      for client in clients { client.pump(now: now) }
      relay.run(forMilliseconds: 300)
      for client in clients { client.take(relay) }
      if clients.allSatisfy(\.isIdle) { break }
    }
    relay.run(forMilliseconds: 10_000)
    for client in clients {
      client.take(relay)
      client.check(relay, keepsAll: keeps == 0)
    }
    var faults = clients.flatMap(\.faults)
    // The limit, and the one item that may go beyond it.
    if relay.mostQueuedBytes > 262_144 + 41_000 {
      faults.append("\(relay.mostQueuedBytes) bytes were queued for one client")
    }
    return faults
  }

  /// The messages that all clients received.
  var digest: [UInt64] { clients.map(\.digest.value) }
}

@Suite struct `The relay, simulated from a seed` {
  @Test(arguments: 0..<8)
  func `every promise is kept whatever sockets, log and clients do`(_ part: UInt64) {
    for seed in part * 10..<(part + 1) * 10 {
      var simulation = Simulation(seed: seed)
      let faults = simulation.run(steps: 600)
      #expect(faults.isEmpty, "seed \(seed): \(faults.prefix(3).joined(separator: "\n"))")
      if !faults.isEmpty { return }
    }
  }

  @Test func `a seed replays to the byte`() {
    for seed in [3, 17, 4711] as [UInt64] {
      var first = Simulation(seed: seed)
      var second = Simulation(seed: seed)
      _ = first.run(steps: 600)
      _ = second.run(steps: 600)
      #expect(first.digest == second.digest, "seed \(seed)")
    }
  }
}
