import Client
import EventLoop
import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  @Suite struct `The relay is killed` {
    @Test func `10,000 messages, 50 clients, 20 rooms, five SIGKILLs: each is stored once`() throws
    {
      let relay = try RelayProcess(RelayProcess.withoutLimits)
      let crowd = try Crowd([relay])
      try crowd.run()
      try crowd.check()
      #expect(try relay.stop() == .exit(0))
      let verify = try RelayProcess.command("verify", "--data", relay.dataFolder)
      #expect(try verify.wait() == .exit(0), "\(verify.errors)")
      #expect(verify.output.contains("20 rooms"))
      #expect(verify.output.contains("10000 entries"))
      print("relay verify: \(verify.output)", terminator: "")
    }

    @Test func `the same on three relays that share a PostgreSQL, which crashes once as well`()
      throws
    {
      let server = try PostgresServer()
      let relays = try (0..<3).map { _ in
        try RelayProcess(
          """
          log: { engine: postgresql, url: "\(server.url)", durability: os }
          \(RelayProcess.withoutLimits)
          """)
      }
      let crowd = try Crowd(relays) { kill in
        guard kill == 3 else { return }
        try server.crash()
        try server.restart()
      }
      try crowd.run()
      try crowd.check()
      for relay in relays { #expect(try relay.stop() == .exit(0)) }
    }
  }
}

extension Crowd {
  /// Checks what everyone has seen against what is stored.
  fileprivate func check() throws {
    let crowd = self
    #expect(crowd.troubles == [])
    #expect(crowd.kills == 5)
    #expect(crowd.acknowledged.count == Crowd.messageCount)
    #expect(crowd.reconnects > Crowd.memberCount, "the kills were felt")

    // Of each room one order, gapless, which every receiver saw from its first to its last.
    for room in 0..<Crowd.roomCount {
      let members = crowd.members.filter { $0.rooms.contains(room) }
      let seen = members.map { $0.seen[room] ?? [] }
      let first = try #require(seen.first)
      #expect(seen.allSatisfy { $0 == first }, "room \(room)")
      #expect(Set(first).count == first.count, "room \(room)")
      let entries = try RawClient(relays[0], user: "auditor").everything(in: Crowd.name(of: room))
      #expect(entries.map(\.id) == first, "room \(room)")
      #expect(entries.map(\.seq) == Array(1...Int64(max(1, first.count))), "room \(room)")
      for entry in entries {
        let ack = crowd.acknowledged[entry.id]
        #expect(ack?.room == entry.room)
        #expect(ack?.seq == entry.seq)
        #expect(crowd.texts[entry.id] == entry.text)
      }
    }

  }
}

/// Fifty clients that talk for as long as it takes, and relays that are killed under them.
private final class Crowd: EventHandler {
  static let memberCount = 50
  static let roomCount = 20
  static let roomsPerMember = 4
  static let messageCount = 10_000
  static let kills = 5
  /// So few are in flight that a kill meets all stages of a message's life.
  static let inFlight = 8

  static func name(of room: Int) -> String { "room-\(room)" }

  final class Member: ClientHandler {
    unowned let crowd: Crowd
    let number: Int
    let rooms: [Int]
    let client: Client
    /// The ids of the entries, in the order in which they came.
    var seen: [Int: [String]] = [:]
    var said = 0

    init(_ crowd: Crowd, _ number: Int, _ client: Client) {
      self.crowd = crowd
      self.number = number
      self.client = client
      rooms = (0..<Crowd.roomsPerMember).map { (number + $0 * 5) % Crowd.roomCount }
      client.handler = self
    }

    func start() {
      for room in rooms { client.join(Crowd.name(of: room), from: .after(0, epoch: nil)) }
      client.start()
      for _ in 0..<Crowd.inFlight { say() }
    }

    private func say() {
      guard said < Crowd.messageCount / Crowd.memberCount else { return }
      said += 1
      let text = "message \(said) of member \(number)"
      let id = client.send(text, to: Crowd.name(of: rooms[said % rooms.count]))
      crowd.texts[id] = text
    }

    func client(_ client: Client, _ event: ClientEvent) {
      switch event {
      case .entry(let entry):
        guard let room = Int(entry.room.dropFirst("room-".count)), rooms.contains(room) else {
          return crowd.troubles.append("member \(number) got an entry of \(entry.room)")
        }
        seen[room, default: []].append(entry.id)
        if entry.seq != seen[room]?.count ?? 0 {
          crowd.troubles.append(
            "member \(number): seq \(entry.seq) of room \(room) after \(seen[room]?.count ?? 0)")
        }
        crowd.received += 1
      case .acknowledged(let ack):
        if let first = crowd.acknowledged.updateValue(ack, forKey: ack.id) {
          crowd.troubles.append("two acks: \(first), \(ack)")
        }
        say()
      case .joined(let joined):
        if joined.resume != .ok { crowd.troubles.append("resume: \(joined)") }
      case .disconnected: crowd.reconnects += 1
      case .joinRefused(_, let error), .refused(_, let error): crowd.troubles.append("\(error)")
      case .ended(let error): crowd.troubles.append("ended: \(error)")
      case .left(let room, _): crowd.troubles.append("left \(room)")
      // The client sends again what a log without its server has refused.
      case .message(.error(let error)) where error.code == .unavailable && crowd.relays.count > 1:
        break
      case .message(.error(let error)): crowd.troubles.append("\(error)")
      case .welcomed, .answered, .tokenWanted, .message: break
      }
    }
  }

  /// A member uses one of them, and comes back to it.
  let relays: [RelayProcess]
  private let harm: (Int) throws -> Void
  let loop: EventLoop
  let clients: ClientLoop
  private(set) var members: [Member] = []
  var texts: [String: String] = [:]
  var acknowledged: [String: ServerMessage.Ack] = [:]
  var received = 0
  var reconnects = 0
  var troubles: [String] = []
  private(set) var kills = 0
  private var failure: (any Error)?
  private let deadline = Deadline(seconds: 180)

  /// - Parameter harm: called before each kill, with its number.
  init(_ relays: [RelayProcess], harm: @escaping (Int) throws -> Void = { _ in }) throws {
    self.relays = relays
    self.harm = harm
    loop = try EventLoop()
    clients = try ClientLoop(loop)
    var settings = SessionSettings()
    settings.firstBackoffMilliseconds = 20
    settings.backoffLimitMilliseconds = 200
    for number in 0..<Self.memberCount {
      let configuration = Client.Configuration(
        url: try RelayURL(relays[number % relays.count].url), user: "member-\(number)",
        settings: settings)
      members.append(Member(self, number, Client(configuration, on: clients)))
    }
  }

  /// Sends until every line is acknowledged and every client has everything.
  func run() throws {
    for member in members { member.start() }
    loop.schedule(afterMilliseconds: 1000, token: 0)
    loop.run(self)
    // No client receives anything any more.
    for member in members { member.client.handler = nil }
    if let failure { throw failure }
    guard isDone else {
      throw Unexpected(
        "\(acknowledged.count) acknowledged, \(received) received, \(kills) kills; \(troubles)"
          + relays.map(\.process.errors).joined(separator: "\n"))
    }
  }

  private var isDone: Bool {
    acknowledged.count == Self.messageCount
      && received >= Self.messageCount * Self.memberCount * Self.roomsPerMember / Self.roomCount
  }

  func ready(_ registration: Registration, token: UInt64, _ readiness: Readiness) {
    clients.ready(registration, token: token, readiness)
  }

  func timerFired(_ timer: TimerID, token: UInt64) {
    guard token == 0 else { return clients.timerFired(timer, token: token) }
    // So that the deadline is seen where nothing happens.
    loop.schedule(afterMilliseconds: 1000, token: 0)
  }

  func beforeSleep() {
    clients.beforeSleep()
    if kills < Self.kills, acknowledged.count >= Self.messageCount * (kills + 1) / 6 {
      kills += 1
      do {
        let relay = relays[kills % relays.count]
        try harm(kills)
        try relay.kill()
        // Not awaited: clients first fail to connect, and then connect again.
        try relay.start(waiting: false)
      } catch {
        failure = error
      }
    }
    if isDone || failure != nil || !troubles.isEmpty || deadline.hasPassed { loop.stop() }
  }
}
