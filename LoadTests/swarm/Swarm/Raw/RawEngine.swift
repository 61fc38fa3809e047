internal import Client
internal import EventLoop
internal import Glibc
internal import Mixing
internal import Platform
internal import TLS
internal import WebSocket

/// The whole mutable state of a raw load, in one struct, so that a call costs one exclusivity
/// check.
struct RawEngine {
  enum Stage {
    case connecting
    case filling
    case warmingUp
    case measuring
    case draining
    case over
  }

  enum Token {
    /// Checks whether progress was made or the wait is over.
    static let look: UInt64 = 0
    /// The end of a timed stage.
    static let stage: UInt64 = 1
    /// A send of a rate is due.
    static let send: UInt64 = 2
  }

  static let lookMilliseconds = 10
  /// The offset at which reads begin; the space before it is for the longest incomplete frame of
  /// the previous read.
  static let readStart = FrameCut.limitBytes
  static let readBytes = 256 * 1024
  static let fillWindow = 64

  let plan: RawLoad.Plan
  let loop: EventLoop
  let url: RelayURL
  let target: String
  /// Who vouches for the server's certificate; `nil` = without TLS.
  let authorities: TLSContext?
  /// The addresses of the servers, which share the connections in turn.
  let addresses: [Address]
  let run: String
  var note: (RawLoad.Moment) -> Void = { _ in }
  var result: RawResult
  var failure: RawLoad.Failure?
  var stage = Stage.connecting

  var connections: [RawConnection] = []
  var senders: [RawSender] = []
  /// By index into `connections`; -1 for those that only listen.
  var senderOf: [Int32] = []
  var rooms: [RawRoom] = []
  var reader: RawReader
  var buffer = [UInt8](repeating: 0, count: Self.readStart + Self.readBytes)
  var dirty: [Int] = []
  var random = SplitMix64(seed: SystemRandomNumberGenerator.number)

  // Connecting
  var nextToConnect = 0
  var underWay = 0
  var memberCount = 0
  var startedAt = Instant.now()

  // The load
  var sends = 0
  /// The number of deliveries that the sends should cause, without refused ones.
  var due = 0
  var bytes = 0
  var reads = 0
  var lost = 0
  /// Whether a delivery or an ack triggers the next send.
  var isSending = false
  var paceStart = Instant.now()
  /// Rooms with senders.
  var speaking: [Int] = []
  /// The number of sends at a rate so far.
  var paced = 0
  /// The counts at the start of the load, for example a fill's deliveries.
  var before = RawResult.Counts()
  var measuredFrom = RawResult.Counts()
  var measuringSince = Instant.now()
  var progress = (count: -1, at: Instant.now())
  /// The number of deliveries after which a resume or a fill is complete.
  var awaited = 0

  init(_ plan: RawLoad.Plan, _ loop: EventLoop) throws(RawLoad.Failure) {
    try Self.check(plan)
    self.plan = plan
    self.loop = loop
    result = RawResult(plan: plan)
    reader = RawReader(plan.dialect, sampleEvery: plan.sampleEvery)
    do throws(RelayURL.Invalid) {
      url = try RelayURL(plan.url)
    } catch {
      throw RawLoad.Failure(description: "\(error)", isUsage: true)
    }
    do throws(TLSFileError) {
      authorities =
        url.isEncrypted
        ? try TLSContext(trusting: plan.authorities.map { .authorities(file: $0) } ?? .system) : nil
    } catch {
      throw RawLoad.Failure(description: "\(error)", isUsage: true)
    }
    target = plan.dialect.target(at: plan.url)
    var addresses: [Address] = []
    for port in plan.ports.isEmpty ? [url.port] : plan.ports {
      addresses.append(try Self.address(of: url.host, port, from: plan.sourceAddresses))
    }
    self.addresses = addresses
    let digits = String(random.next(), radix: 36)
    run = String(repeating: "0", count: 13 - digits.utf8.count) + digits
    place()
  }

  private static func check(_ plan: RawLoad.Plan) throws(RawLoad.Failure) {
    func usage(_ text: String) -> RawLoad.Failure { .init(description: text, isUsage: true) }
    let most = Scenario.clientLimit
    let rooms = plan.allRooms
    guard !rooms.isEmpty, rooms.count <= most,
      rooms.allSatisfy({ 1...most ~= $0.members }), plan.connections <= most
    else { throw usage("there must be 1 to \(most) rooms and connections, and no empty room") }
    guard rooms.allSatisfy({ 0...$0.members ~= $0.senders }),
      rooms.contains(where: { $0.senders > 0 })
    else { throw usage("a room must have at least one sender, and at most as many as members") }
    guard (RawLoad.Plan.textBytesMinimum...65_536).contains(plan.textBytes) else {
      throw usage("a text must have \(RawLoad.Plan.textBytesMinimum) to 65536 bytes")
    }
    guard (1...RawLoad.Plan.lanesMaximum).contains(plan.lanes) else {
      throw usage("there must be 1 to \(RawLoad.Plan.lanesMaximum) lanes")
    }
    guard plan.sampleEvery > 0, plan.connectsAtOnce > 0, plan.seconds > 0,
      plan.warmUpSeconds >= 0, plan.patienceMilliseconds > 0
    else { throw usage("seconds, patience, samples and concurrent connects must be more than 0") }
    switch plan.work {
    case .publish(.window(let window)) where window < 1:
      throw usage("a window must be at least 1 message")
    case .publish(.rate(let rate)) where !(rate > 0 && rate <= 10_000_000):
      throw usage("a rate must be more than 0 and at most 10000000 per second")
    case .resume(let messages) where messages < 1 || plan.dialect.resume.isEmpty:
      throw usage("coming back requires at least 1 message, and a dialect that supports it")
    default: break
    }
    if plan.release == .ack, plan.dialect.ackPrefix == nil {
      throw usage("the dialect \(plan.dialect.name) has no acks")
    }
  }

  private static func address(
    of host: String, _ port: UInt16, from sources: [Address]
  ) throws(RawLoad.Failure) -> Address {
    let addresses: [Address]
    do throws(AddressError) {
      addresses = try Address.resolve(host: host, port: port)
    } catch {
      throw RawLoad.Failure(description: "\(error)", isUsage: false)
    }
    do throws(Run.Failure) {
      return try SourceAddresses.check(sources, to: addresses)[0]
    } catch {
      throw RawLoad.Failure(description: error.description, isUsage: error.isUsage)
    }
  }

  private mutating func place() {
    var fillers = false
    if case .resume = plan.work { fillers = true }
    let layout = plan.allRooms
    var firsts: [Int] = []
    for (room, shape) in layout.enumerated() {
      firsts.append(connections.count)
      for place in 0..<shape.members {
        var connection = RawConnection(room: room)
        connection.isWatcher = place == 0 && !fillers
        connections.append(connection)
      }
    }
    if fillers {
      for room in layout.indices {
        var connection = RawConnection(room: room)
        connection.isWatcher = true
        connection.isFiller = true
        connections.append(connection)
      }
    }
    senderOf = Array(repeating: -1, count: connections.count)
    for (room, shape) in layout.enumerated() {
      let first = senders.count
      let members =
        fillers ? [plan.connections + room] : (0..<shape.senders).map { firsts[room] + $0 }
      for connection in members {
        senderOf[connection] = Int32(senders.count)
        let frame = RawFrame(
          publish: RawText.filled(plan.dialect.publish, values(of: connection)),
          textBytes: plan.textBytes, lanes: plan.lanes, isBinary: plan.dialect.isBinary,
          key: random.maskKey())
        senders.append(RawSender(connection: connection, frame: frame))
      }
      if first < senders.count { speaking.append(room) }
      rooms.append(RawRoom(members: shape.members, senders: first..<senders.count))
    }
  }

  /// Returns the values of a dialect's placeholders.
  func values(of connection: Int) -> [String: String] {
    let prefix = plan.roomPrefix ?? "raw-\(run)-"
    return [
      "room": "\(prefix)\(connections[connection].room)", "user": "raw-\(run)-\(connection)",
      // Ids are unique per sender.
      "run": "\(run)-\(connection)", "after": "0",
    ]
  }

  // MARK: Counting

  /// The current counts.
  var counts: RawResult.Counts {
    var counts = RawResult.Counts()
    counts.deliveries = reader.tally.deliveries
    counts.frames = reader.tally.frames
    counts.acks = reader.tally.acks
    counts.errors = reader.tally.errors
    counts.bytes = bytes
    counts.sends = sends
    counts.reads = reads
    counts.ownCPUSeconds = ProcessorTime.ownThread
    return counts
  }
}

extension SystemRandomNumberGenerator {
  static var number: UInt64 {
    var generator = SystemRandomNumberGenerator()
    return generator.next()
  }
}

extension SplitMix64 {
  mutating func maskKey() -> UInt32 { UInt32(truncatingIfNeeded: next()) }
}

extension ProcessorTime {
  /// CPU time of the calling thread, in user mode and in the kernel.
  static var ownThread: Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
