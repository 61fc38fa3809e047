import Glibc
import Testing

extension `End to end` {
  /// Peers that are out to hurt. Whatever they do is cut off by a limit, counted, and leaves nothing
  /// open behind; and an honest client is served meanwhile. How soon, and how much memory it takes,
  /// is measured below.
  @Suite struct `Under attack` {
    @Test func `handshakes of a byte a second end with the time for a handshake`() throws {
      try Attack(.slowHandshake).run()
    }

    @Test func `headers without end are refused once they are too long`() throws {
      try Attack(.endlessHeaders).run()
    }

    @Test func `who never says who they are is ended, and only some of an address are waited for`()
      throws
    {
      let attack = try Attack(.unauthenticated)
      try attack.run()
      #expect(try attack.relay.violations(of: "limits.handshake_timeout_ms") >= 100)
    }

    @Test func `of those of one address that say nothing some are told to try later`() throws {
      let attack = try Attack(.silent)
      try attack.run()
      #expect(try attack.relay.violations(of: "limits.handshake_timeout_ms") >= 100)
    }

    @Test func `more connections than fit in all are refused with a sentence`() throws {
      try Attack(.tooMany).run()
    }

    @Test func `thousands of connections from one address leave room for another`() throws {
      try Attack(.oneAddress).run()
    }

    @Test func `a frame that declares too many bytes is refused before they come`() throws {
      try Attack(.oversized).run()
    }

    @Test func `a message in a million fragments is refused after some`() throws {
      try Attack(.fragments).run()
    }

    @Test func `a small message that inflates to a large one is refused while it is inflated`()
      throws
    {
      try Attack(.bombs).run()
    }

    @Test func `a flood of pings ends its connection`() throws {
      try Attack(.pings).run()
    }

    @Test func `a flood of sends is taken at the rate that its users may send`() throws {
      try Attack(.sends).run()
    }

    @Test func `a flood on fifty connections of one user is taken at the rate of one`() throws {
      try Attack(.sendsByOne).run()
    }

    @Test func `a flood of duplicates is taken at the rate of requests`() throws {
      try Attack(.duplicates).run()
    }

    @Test func `a flood of requests is taken at the rate that its users may ask`() throws {
      try Attack(.requests).run()
    }

    @Test func `a flood of messages that inflate is taken at the rate of what they become`() throws
    {
      try Attack(.inflated).run()
    }

    @Test func `a flood of pings ends an echo as well`() throws {
      try Attack(.echoPings).run()
    }

    @Test func `frames without a mask end an echo as well`() throws {
      try Attack(.echoUnmasked).run()
    }

    @Test func `frames without a mask end their connection`() throws {
      try Attack(.unmasked).run()
    }

    @Test func `a thousand resets within a frame are taken note of`() throws {
      try Attack(.resets).run()
    }

    @Test func `peers that have stopped without a word are given up`() throws {
      try Attack(.halfOpen).run()
    }

    @Test func `who asks on and on and reads nothing is not read from any more`() throws {
      try Attack(.neverReads).run()
    }

    @Test func `ten thousand that leave in one moment`() throws {
      try Attack(.storm).run()
    }

    @Test func `a relay without descriptors turns clients away and serves those that it has`()
      throws
    {
      let attack = try Attack(.descriptors)
      try attack.run()
      #expect(attack.relay.process.errors.contains("no descriptors are left for more clients"))
    }
  }

  /// The same attacks: what each cost is printed, and held against a bound.
  @Suite struct `Measured: under attack` {
    @Test(arguments: AttackKind.all)
    func `memory comes back, and an honest client is served soon`(kind: AttackKind) throws {
      _ = try Attack(kind).measure()
    }

    /// A user who has joined a room belongs to it from then on, which takes memory; strangers leave
    /// little.
    @Test func `of ten thousand strangers who leave in one moment little is kept`() throws {
      let attack = try Attack(.strangers)
      let fresh = try attack.measure()
      // 20 % more were measured, and 26 % in a release build, whose fresh one is smaller: 550 bytes for
      // each of them, that they were here being one thing that is kept. The tables alone, if they kept
      // their length, would be 20 % on top.
      let isBack = try attack.relay.memory(atMost: fresh + fresh * 35 / 100)
      let now = try attack.relay.memory.now
      #expect(isBack, "\(fresh) bytes at first, \(now) in the end")
    }
  }
}

/// What attackers do, as Peers/attack.py does it, and to what relay.
struct AttackKind: CustomTestStringConvertible, Sendable {
  var name: String
  /// By default those on handshakes are out of the way, since on a busy machine also the attackers
  /// are slow.
  var limits = "unauthenticated_per_address: 0, handshake_timeout_ms: 60000"
  /// More of the relay's configuration.
  var configuration = ""
  /// What the relay's command is begun by.
  var wrapper: [String] = []
  /// What `/metrics` counts this under.
  var rule: String
  /// How often at least, in each round.
  var times: Int
  var stay = Stay.none
  /// The rounds before the one that is measured: what they leave in memory is a relay that has been
  /// used.
  var warmUpRounds = 1

  var testDescription: String { name }

  /// What attackers do once they are where they wanted to be.
  enum Stay {
    /// They are through when they are.
    case none
    /// They wait, and then leave all at once.
    case ready
    /// They wait until the relay has counted them.
    case counted
    /// Their process is stopped until the relay has given them up.
    case stopped
  }

  static let all: [AttackKind] = [
    slowHandshake, endlessHeaders, unauthenticated, silent, tooMany, oneAddress, oversized,
    fragments, bombs, pings, sends, sendsByOne, duplicates, requests, inflated, echoPings,
    echoUnmasked, unmasked, resets, halfOpen,
    neverReads, storm, descriptors,
  ]

  static let slowHandshake = AttackKind(
    name: "slow-handshake", limits: "handshake_timeout_ms: 1500",
    rule: "limits.handshake_timeout_ms", times: 40)
  static let endlessHeaders = AttackKind(
    name: "endless-headers", rule: "limits.header_bytes", times: 20)
  static let unauthenticated = AttackKind(
    name: "unauthenticated", limits: "handshake_timeout_ms: 4000",
    rule: "limits.unauthenticated_per_address", times: 50)
  static let silent = AttackKind(
    name: "silent", limits: "handshake_timeout_ms: 4000",
    rule: "limits.unauthenticated_per_address", times: 50)
  static let tooMany = AttackKind(
    name: "too-many", limits: "connections: 100, unauthenticated_per_address: 0",
    rule: "limits.connections", times: 201)
  static let oneAddress = AttackKind(
    name: "one-address", rule: "limits.connections_per_address", times: 2000)
  static let oversized = AttackKind(name: "oversized", rule: "limits.frame_bytes", times: 99)
  static let fragments = AttackKind(name: "fragments", rule: "limits.message_fragments", times: 10)
  static let bombs = AttackKind(name: "bombs", rule: "limits.frame_bytes", times: 50)
  static let pings = AttackKind(name: "pings", rule: "limits.control_frames_per_s", times: 10)
  // How often connections were held back.
  static let sends = AttackKind(name: "sends", rule: "limits.sends_per_s", times: 200)
  static let sendsByOne = AttackKind(name: "sends-by-one", rule: "limits.sends_per_s", times: 20)
  // Until a duplicate is known to be one it is charged as a send.
  static let duplicates = AttackKind(name: "duplicates", rule: "limits.sends_per_s", times: 10)
  static let requests = AttackKind(name: "requests", rule: "limits.requests_per_s", times: 200)
  // Each user once: a relay that hardly gets a turn reads no faster than the budget is filled.
  static let inflated = AttackKind(name: "inflated", rule: "limits.bytes_per_s", times: 10)
  static let echoPings = AttackKind(
    name: "echo-pings", configuration: "debug: { echo: true }",
    rule: "limits.control_frames_per_s", times: 10)
  static let echoUnmasked = AttackKind(
    name: "echo-unmasked", configuration: "debug: { echo: true }", rule: "framing", times: 100)
  static let unmasked = AttackKind(name: "unmasked", rule: "framing", times: 100)
  // One that is reset before the relay has looked at it at all may be no error any more.
  static let resets = AttackKind(name: "resets", rule: "reset", times: 900)
  static let halfOpen = AttackKind(
    name: "half-open", limits: "heartbeat_s: 1, idle_timeout_s: 3",
    rule: "limits.idle_timeout_s", times: 200, stay: .stopped)
  // The first rounds find out how much of what was freed the allocator keeps.
  static let neverReads = AttackKind(
    name: "never-reads", rule: "limits.queue_bytes", times: 20, stay: .counted, warmUpRounds: 2)
  // Half of them by a reset, as many as the system lets be at once.
  static let storm = AttackKind(name: "storm", rule: "reset", times: 100, stay: .ready)
  static let strangers = AttackKind(name: "strangers", rule: "reset", times: 100, stay: .ready)
  static let descriptors = AttackKind(
    name: "descriptors", wrapper: ["sh", "-c", "ulimit -n 64; exec \"$@\"", "sh"],
    rule: "descriptors", times: 100)
}

/// A relay, an honest client of it, and attackers of one kind.
private final class Attack {
  let relay: RelayProcess
  private let kind: AttackKind
  private let honest: HonestClient
  private var rounds = 0

  init(_ kind: AttackKind) throws {
    self.kind = kind
    // That a disk is slow now and then is not what is looked at here.
    relay = try RelayProcess(
      "limits: { connections_per_user: 0, \(kind.limits) }\nlog: { durability: os }\n\(kind.configuration)",
      under: kind.wrapper)
    honest = try HonestClient(relay)
  }

  /// Attacks twice: no descriptor is left that the first time did not leave.
  func run() throws {
    try attack()
    let descriptors = try quietDescriptors()
    try attack()
    #expect(try relay.descriptors(atMost: descriptors), "descriptors leak: \(descriptors) before")
    for _ in 0..<3 { try honest.probe(connecting: true) }
    #expect(try relay.violations(of: kind.rule) >= kind.times * rounds)
  }

  /// Holds what a round takes against what the rounds before it took.
  ///
  /// - Returns: the relay's memory at first, in bytes.
  func measure() throws -> Int {
    let fresh = try relay.memory.now
    var settled = fresh
    for _ in 0..<kind.warmUpRounds {
      try attack()
      _ = try quietDescriptors()
      settled = max(settled, try quietMemory())
    }
    try relay.forgetPeakMemory()
    let processor = try relay.processorSeconds
    honest.forget()
    try attack()
    let peak = try relay.memory.peak
    let isBack = try relay.memory(atMost: settled + settled / 10)
    let after = try relay.memory.now
    #expect(isBack, "\(settled) bytes before, \(after) now")
    for _ in 0..<3 { try honest.probe(connecting: true) }
    print(
      "\(kind.name): memory \(fresh >> 10) KiB at first, \(settled >> 10) before, \(peak >> 10) at most,"
        + " \(after >> 10) after; processor "
        + "\((try relay.processorSeconds - processor).rounded(toPlaces: 2)) s; \(honest)")
    // In a release build 100 ms are promised; and what was late by itself was this test.
    let tolerance = Duration.seconds(2) + honest.longestOversleep * 2
    #expect(
      honest.longestAnswer < tolerance && honest.longestConnect < tolerance, "\(honest)")
    return fresh
  }

  private func attack() throws {
    rounds += 1
    let count = kind.times * rounds
    let attackers = try ChildProcess(
      ["/usr/bin/python3", Programs.peer("attack.py"), kind.name, "\(relay.port)"])
    var isReady = false
    while attackers.isRunning {
      try honest.probe()
      guard kind.stay != .none, !isReady, attackers.output.contains("ready\n") else { continue }
      isReady = true
      if kind.stay == .stopped { attackers.signal(SIGSTOP) }
      if kind.stay != .ready {
        let deadline = Deadline()
        while try relay.violations(of: kind.rule) < count, !deadline.hasPassed {
          try honest.probe()
        }
      }
      if kind.stay == .stopped { attackers.signal(SIGCONT) }
      for _ in 0..<3 { try honest.probe(connecting: true) }
      attackers.write("go on\n")
    }
    #expect(try attackers.wait() == .exit(0), "\(attackers.errors)")
    // What the attackers left behind is cleared away meanwhile.
    for _ in 0..<3 { try honest.probe() }
  }

  /// Once no connection is left but the honest one.
  private func quietDescriptors() throws -> Int {
    let deadline = Deadline()
    while true {
      // The honest one, and the one that asks.
      if try relay.metrics().contains("\nrelay_connections 2\n") { break }
      if deadline.hasPassed { throw Unexpected("connections are left over") }
      try honest.probe()
    }
    // The last one that asked may not be gone yet.
    var fewest = Int.max
    for _ in 0..<3 {
      fewest = try min(fewest, relay.descriptorCount)
      try honest.probe()
    }
    return fewest
  }

  private func quietMemory() throws -> Int {
    for _ in 0..<3 { try honest.probe() }
    return try relay.memory.now
  }
}

/// Says something now and then, and measures how long the relay takes to store it.
private final class HonestClient: CustomStringConvertible {
  /// Within what a client may send.
  private static let pause = Duration.milliseconds(55)

  private let relay: RelayProcess
  private let client: RawClient
  private var sent = 0
  private(set) var longestAnswer = Duration.zero
  private(set) var longestConnect = Duration.zero
  /// How late the test itself was: what the machine, and not the relay, is to blame for.
  private(set) var longestOversleep = Duration.zero

  init(_ relay: RelayProcess) throws {
    self.relay = relay
    client = try RawClient(relay, user: "honest")
    _ = try client.join("honest")
  }

  func forget() { (longestAnswer, longestConnect, longestOversleep) = (.zero, .zero, .zero) }

  /// Sends and waits for the ack; `connecting` on a connection of its own as well.
  func probe(connecting: Bool = false) throws {
    let clock = ContinuousClock()
    sent += 1
    longestAnswer = try max(
      longestAnswer, clock.measure { try client.say("probe", in: "honest", id: "\(sent)") })
    if connecting {
      longestConnect = try max(
        longestConnect,
        clock.measure {
          _ = try RawClient(relay, user: "newcomer").history("honest", limit: 1)
        })
    }
    let slept = clock.measure { usleep(useconds_t(Self.pause / .microseconds(1))) }
    longestOversleep = max(longestOversleep, slept - Self.pause)
  }

  var description: String {
    func milliseconds(_ duration: Duration) -> Int { Int(duration / .milliseconds(1)) }
    return "longest answer \(milliseconds(longestAnswer)) ms, "
      + "new connection \(milliseconds(longestConnect)) ms "
      + "(the test itself was late by \(milliseconds(longestOversleep)) ms)"
  }
}

extension RelayProcess {
  /// Open descriptors.
  fileprivate var descriptorCount: Int {
    get throws {
      guard let directory = unsafe opendir("/proc/\(process.id)/fd") else {
        throw Unexpected("/proc/\(process.id)/fd: \(errno)")
      }
      defer { unsafe closedir(directory) }
      var count = -2
      while unsafe readdir(directory) != nil { count += 1 }
      return count
    }
  }

  /// Time on a processor so far, of all its threads.
  fileprivate var processorSeconds: Double {
    get throws {
      let fields = try readFile("/proc/\(process.id)/stat")
      // Behind the name, which may contain anything: user and system time are the 12th and 13th.
      guard let end = fields.lastIndex(of: ")") else { throw Unexpected("stat: \(fields)") }
      let numbers = fields[end...].split(separator: " ").dropFirst()
      let ticks = numbers.dropFirst(11).prefix(2).compactMap { Double($0) }.reduce(0, +)
      return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
  }

  fileprivate func descriptors(atMost count: Int) throws -> Bool {
    try becomesTrue { try descriptorCount <= count }
  }

  fileprivate func memory(atMost bytes: Int) throws -> Bool {
    try becomesTrue { try memory.now <= bytes }
  }

  private func becomesTrue(_ condition: () throws -> Bool) throws -> Bool {
    let deadline = Deadline()
    while try !condition() {
      if deadline.hasPassed { return false }
      usleep(20_000)
    }
    return true
  }
}

extension Double {
  fileprivate func rounded(toPlaces places: Int) -> Double {
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    return (self * scale).rounded() / scale
  }
}
