internal import Gateway
internal import HeapModule
internal import Mixing
internal import Platform
internal import Relay
internal import SQLiteLog
internal import Wire

/// One run: clients, network, relay, log and disk on one clock. The seed decides everything.
public final class Simulation {
  /// The result of a run.
  public struct Verdict: Sendable {
    /// The promises that were broken; empty if all were kept.
    public var faults: [String]
    public var tally: Tally
    /// A hash of everything that clients received: equal for two runs of one seed.
    public var digest: UInt64
  }

  /// An event at a point in time.
  struct Event: Comparable {
    enum Kind {
      case arrival(Link)
      case client(Int)
      case turn(loop: Int, life: Int)
      case commit(life: Int)
      case published(life: Int, Sequencer.Outcome, submitters: Set<Int>)
      case read(life: Int)
      case answered(life: Int, loop: Int, LogAnswer, SessionID?, askedAt: Int64)
      case verified(life: Int, loop: Int, token: String, VerificationAsker)
      case background(life: Int)
      case files(life: Int, SimulatedFiles.Thread)
      case fileTidying(life: Int)
      case operation
      case sweep(life: Int)
      case shutdownDue(life: Int)
      case start
      case directory
      case fault
      case repair(Repair)
    }
    var at: Int64
    var number: Int
    var kind: Kind

    static func < (a: Self, b: Self) -> Bool { (a.at, a.number) < (b.at, b.number) }
    static func == (a: Self, b: Self) -> Bool { a.number == b.number }
  }

  /// A temporary fault that ends after a while.
  enum Repair {
    case disk
    case reader(Int)
    case ban
  }

  struct Backup {
    var files: SimulatedDisk.Snapshot
    var ledger: Ledger
    var inDoubt: Set<Ledger.Identity>
    /// The epoch that the ledger has and the files do not.
    var unstoredEpoch: String?
  }

  private let seed: UInt64
  let scenario: Scenario
  let disk: SimulatedDisk
  let fileSystem: SimulatedFileSystem
  let referee = Referee()
  var random: SplitMix64
  var now: Moment
  private var events = Heap<Event>()
  private var eventCount = 0

  var relay: RelayProcess?
  var life = 0
  var clients: [any Participant] = []
  /// The time of the next turn of each client.
  private var clientTurns: [Int64?] = []
  var loopTurns: [Int64?] = []
  /// The time until which each loop is busy with its last turn.
  var loopIsBusyUntil: [Int64] = []
  /// Whether each loop must sweep, that is, check every connection, in its next turn.
  var sweepIsDue: [Bool] = []
  var links: [Link] = []
  private var linkCount: Int32 = 0
  /// Entries of a batch whose outcome no client knows.
  var inDoubt: Set<Ledger.Identity> = []
  var refusedSinceCommit: Set<Ledger.Identity> = []
  var backups: [Backup] = []
  /// Whether entries may be lost, since a log whose durability does not cover a loss of power has
  /// met one.
  var mayHaveLost = false
  /// The epoch of the last relay, if that has never stored it.
  var unstoredEpoch: String?
  var isRepaired = false
  /// Whether the clients have ended, and only the relay goes on.
  var isOver = false
  /// What an operator has the log do with its next batch.
  var orders: [LogRequest] = []
  /// Whether the next death is a loss of power.
  var nextDeathIsPowerLoss = false
  var isReadingBack = false
  var isInBackgroundStep = false

  /// Waits that began before this time are not checked, since a thread was stalled.
  var disturbedUntil: Int64 = 0
  /// The number of lookups of batches that could not be stored, which later batches repeat.
  var lookupsToRetry = 0
  /// The number of overwritten edits of deleted texts before the commit in progress.
  var redactedEdits = 0
  /// The directory's current list.
  var people = PeopleList([], source: "simulated", asOf: 0)
  /// The bounds that are checked.
  let bounds: Set<HeldBound>
  /// The banned users.
  var banned: Set<String> = []
  /// The attacks of the adversaries.
  let attacks: Set<Attack>

  /// The rooms of the honest clients.
  static let rooms = ["a", "b", "c", "dm:u0:u1"]
  /// The rooms with settings and members of their own, which the probes make.
  static let dens = ["den1", "den2"]
  /// Rooms of which every entry is checked against the ledger: all of those, and direct messages from an
  /// adversary to an honest client. Rooms that only adversaries use are not checked.
  static let watchedRooms =
    rooms + dens + ["dm:mallory1:u0", "dm:mallory1:u1", "dm:mallory2:u0", "dm:mallory2:u1"]
  private static let watched = Set(watchedRooms)
  static func isWatched(_ room: String) -> Bool { watched.contains(room) }

  /// - Parameters:
  ///   - bounds: the bounds that are checked.
  ///   - attacks: the adversaries in the run, and whether the directory changes (`people`).
  ///   - trace: receives a line for each event.
  public init(
    seed: UInt64, store: StoreKind, bounds: Set<HeldBound> = Set(HeldBound.allCases),
    attacks: Set<Attack> = Set(Attack.allCases),
    trace: ((String) -> Void)? = nil
  ) {
    self.bounds = bounds
    self.attacks = attacks
    self.seed = seed
    random = SplitMix64(seed: seed)
    scenario = Scenario(store: store, using: &random)
    disk = SimulatedDisk(seed: random.next())
    fileSystem = SimulatedFileSystem(disk, name: "simulated-\(Self.nextNumber())")
    now = Moment(monotonic: 1000, wall: 1_763_650_000_000)
    if let trace {
      referee.trace = { [unowned self] line in trace("\(self.now.monotonic - 1000) \(line())") }
      disk.trace = referee.trace
    }
    for index in 0..<scenario.sessions {
      clients.append(SessionParticipant("s\(index)", user: "u\(index)", self))
    }
    for index in 0..<scenario.probes {
      // Some are second devices of a session participant's user.
      clients.append(ProbeParticipant("p\(index)", user: "u\(index + 1)", self))
    }
    for index in 0..<scenario.posters {
      clients.append(PosterParticipant("h\(index)", user: "u\(index)", self))
    }
    for index in 0..<scenario.posters {
      clients.append(StreamParticipant("e\(index)", user: "u\(index)", self))
      clients.append(PollParticipant("l\(index)", user: "u\(index)", self))
      clients.append(StreamParticipant("d\(index)", user: "u\(index + 1)", self, readsDens: true))
    }
    for index in 0..<(scenario.files?.clients ?? 0) {
      let user = index == 2 ? Self.erasedUser : "u\(index)"
      clients.append(FileParticipant("f\(index)", user: user, self))
    }
    if scenario.hasBot { clients.append(BotParticipant(self)) }
    for (number, adversary) in scenario.adversaries.enumerated()
    where attacks.contains(adversary.attack) {
      let plot = Plot(adversary, "mallory\(number + 1)", seed: random.next())
      for connection in 0..<adversary.connections {
        clients.append(Adversary(plot, connection: connection, self))
      }
      if adversary.attack == .babble { clients.append(HTTPAdversary(plot, self)) }
    }
    clientTurns = Array(repeating: nil, count: clients.count)
    loopTurns = Array(repeating: nil, count: scenario.loops)
    loopIsBusyUntil = Array(repeating: 0, count: scenario.loops)
    disk.interlude = { [unowned self] in interlude() }
  }

  func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  func pick(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &random) }

  func trace(_ line: @autoclosure () -> String) { referee.trace { line() } }

  // MARK: - Time

  func schedule(_ kind: Event.Kind, in milliseconds: Int64) {
    eventCount += 1
    events.insert(Event(at: now.monotonic + milliseconds, number: eventCount, kind: kind))
  }

  /// Schedules a turn of a client, unless an earlier one is scheduled.
  func wake(client: Int, in milliseconds: Int64) {
    let at = now.monotonic + max(0, milliseconds)
    if let turn = clientTurns[client], turn <= at { return }
    clientTurns[client] = at
    schedule(.client(client), in: max(0, milliseconds))
  }

  /// Schedules a turn of a loop, unless an earlier one is scheduled.
  func wake(loop: Int, in milliseconds: Int64) {
    let at = now.monotonic + max(0, milliseconds)
    if let turn = loopTurns[loop], turn <= at { return }
    loopTurns[loop] = at
    schedule(.turn(loop: loop, life: life), in: max(0, milliseconds))
  }

  /// Lets time pass in which nothing happens, as while the machine sleeps.
  func sleep(milliseconds: Int64) { advance(to: now.monotonic + milliseconds) }

  private func advance(to at: Int64) {
    let passed = max(0, at - now.monotonic)
    now.monotonic += passed
    now.wall += passed
    referee.now = now.monotonic
    referee.latestWall = max(referee.latestWall, now.wall)
    disk.wallClock = now.wall
  }

  /// Runs until the time is over or a promise is broken.
  public func run() -> Verdict {
    TrapReport.begin(seed, scenario.store)
    schedule(.start, in: 0)
    for index in clients.indices { wake(client: index, in: pick(0...300)) }
    schedule(.fault, in: scenario.faultPauseMilliseconds)
    if attacks.contains(.people) { schedule(.directory, in: 0) }
    if scenario.files != nil { schedule(.operation, in: pick(1000...6000)) }
    let end = now.monotonic + scenario.lengthMilliseconds
    play(until: end)
    if referee.faults.isEmpty { becomeIdle() }
    checkLongestMessage()
    disk.interlude = nil
    relay = nil
    referee.tally += disk.tally
    return Verdict(faults: referee.faults, tally: referee.tally, digest: referee.digest.value)
  }

  func play(until end: Int64, while condition: () -> Bool = { true }) {
    while let event = events.min, event.at <= end, referee.faults.isEmpty, condition() {
      events.removeMin()
      advance(to: event.at)
      handle(event)
    }
    if referee.faults.isEmpty, condition() { advance(to: end) }
  }

  private func handle(_ event: Event) {
    switch event.kind {
    case .arrival(let link): arrive(link)
    case .client(let index):
      guard clientTurns[index] == event.at else { return }
      clientTurns[index] = nil
      if !isOver { clients[index].turn() }
    case .turn(let loop, let life):
      guard life == self.life, loopTurns[loop] == event.at else { return }
      loopTurns[loop] = nil
      if loopIsBusyUntil[loop] > event.at {
        wake(loop: loop, in: loopIsBusyUntil[loop] - event.at)
        return
      }
      turn(loop)
    case .commit(let life):
      if life == self.life { commit() }
    case .published(let life, let outcome, let submitters):
      if life == self.life { publish(outcome, submitters) }
    case .read(let life):
      if life == self.life { read() }
    case .verified(let life, let loop, let token, let asker):
      if life == self.life { verify(token, for: asker, loop) }
    case .answered(let life, let loop, let answer, let session, let askedAt):
      if life == self.life { deliver(answer, to: loop, session, askedAt: askedAt) }
    case .background(let life):
      if life == self.life { takeBackgroundStep() }
    case .files(let life, let thread):
      if life == self.life { takeFileStep(thread) }
    case .fileTidying(let life):
      if life == self.life { tidyFiles() }
    case .operation: operate()
    case .sweep(let life):
      guard life == self.life, let relay else { return }
      for loop in relay.loopIndices {
        sweepIsDue[loop] = true
        wake(loop: loop, in: 0)
      }
      schedule(.sweep(life: life), in: Int64(ConnectionLoop.sweepMilliseconds))
    case .shutdownDue(let life):
      if life == self.life, relay != nil { referee.fault("a shutdown does not finish") }
    case .start: start()
    case .directory: if !isRepaired { changeDirectory() }
    case .fault: makeTrouble()
    case .repair(let repair): self.repair(repair)
    }
  }

  // MARK: - Links

  /// - Returns: `nil` if the relay does not accept connections.
  func connect(_ user: String, kind: Link.Kind = .honest, seed: UInt64) -> ClientEnd? {
    guard let link = connectLink(user, kind: kind), let relay else { return nil }
    return ClientEnd(link, referee, epoch: relay.log.epoch, compresses: chance(50), seed: seed)
  }

  /// - Returns: `nil` if the relay does not accept connections.
  func connectLink(_ user: String, kind: Link.Kind) -> Link? {
    guard let relay, !relay.isShuttingDown else {
      if kind == .honest { referee.tally.count(.connectionRefused) }
      return nil
    }
    referee.tally.count(kind == .honest ? .connected : .attackerConnected)
    linkCount += 1
    let capacity = [4096, 30_000, 200_000].randomElement(using: &random) ?? 4096
    let link = Link(
      number: linkCount, user: user, kind: kind,
      loop: Int.random(in: 0..<scenario.loops, using: &random),
      life: life, token: token(for: user, kind), capacityBytes: capacity)
    links.append(link)
    relay.accept(link, now: now)
    trace("connection \(link.number) of \(user) to loop \(link.loop)")
    return link
  }

  /// Returns a user's token, if the relay requires one. Those of adversaries expire soon.
  private func token(for user: String, _ kind: Link.Kind) -> SimulatedToken? {
    guard scenario.relay.takesTokens else { return nil }
    if kind == .honest { return SimulatedToken(user: user) }
    let end = now.wall + pick(300...6000)
    return SimulatedToken(user: user, expires: end - Identity.clockSkewMilliseconds)
  }

  /// Schedules the arrival of bytes in flight.
  func scheduleArrival(_ link: Link) {
    for next in [link.toRelay.takeNextArrival(), link.toClient.takeNextArrival()] {
      if let next { schedule(.arrival(link), in: max(0, next - now.monotonic)) }
    }
  }

  private func arrive(_ link: Link) {
    link.toRelay.arrive(now: now.monotonic)
    link.toClient.arrive(now: now.monotonic)
    scheduleArrival(link)
    if link.waitsSince == nil, !link.toRelay.arrived.isEmpty { link.waitsSince = now.monotonic }
    if link.life == life { wake(loop: link.loop, in: 0) }
    for (index, client) in clients.enumerated() where client.link === link {
      wake(client: index, in: 0)
    }
  }

  /// Drops a client's connection.
  func abandon(_ end: ClientEnd) {
    end.witness.close()
    abandon(end.link)
  }

  func abandon(_ link: Link) {
    link.toRelay.finish(now: now.monotonic)
    link.toClient.breakOff()
    scheduleArrival(link)
    links.removeAll { $0 === link }
  }
}

extension Simulation {
  private static let numbers = NumberSource()
  /// Returns a number that is unique in this process.
  static func nextNumber() -> Int { numbers.next() }
}
