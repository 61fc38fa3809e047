internal import Glibc
internal import Platform

/// The benchmark: the relay beside the floor and beside its peers, row by row.
///
/// Confined to one thread, which it blocks.
public final class Bench {
  /// What is measured, and with what.
  public struct Settings: Sendable {
    /// How thorough it is.
    public var extent = BenchReport.Extent.usual
    /// Only these rows; a name stands for all that begin with it. `nil`: all.
    public var rows: [String]?
    /// Whether other servers are measured too.
    public var withPeers = true
    /// Where `relay` is, and the programs that come with it.
    public var commands: String
    /// Where what `make bench` has built is; servers get folders there, on a real disk.
    public var built: String
    /// `LoadTests/peers`.
    public var peers: String
    /// Described by whoever starts it: the compiler, the libraries.
    public var facts: [BenchReport.Fact] = []

    /// All rows.
    public init(commands: String, built: String, peers: String) {
      self.commands = commands
      self.built = built
      self.peers = peers
    }
  }

  /// What keeps it from beginning; prints as a sentence.
  public struct Failure: Error, Equatable, CustomStringConvertible {
    /// One line for a person.
    public var description: String
    /// Whether it asks for something that cannot be.
    public var isUsage = false
  }

  /// The names of all rows, in the order of the table.
  public static var rowNames: [String] { BenchItem.all.flatMap(\.ids) }

  let settings: Settings
  let places: BenchProgram.Places
  let tell: (String) -> Void
  private let items: [BenchItem]
  private var report: BenchReport
  /// On the disk; it is gone when the run is over.
  private(set) var temporaryFolder = ""
  private var numberOfPlans = 0
  private var knownDeliveryBytes: Int?
  private var knownFactor: Double?

  /// - Parameter tell: told what is done now, a line each.
  public init(_ settings: Settings, tell: @escaping (String) -> Void) throws(Failure) {
    self.settings = settings
    self.tell = tell
    places = BenchProgram.Places(
      commands: settings.commands, built: settings.built, peers: settings.peers)
    items = try Self.chosen(settings)
    report = BenchReport(
      date: BenchMachine.date, extent: settings.extent,
      facts: BenchMachine.facts + settings.facts)
    for path in [settings.commands + "/relay", settings.built + "/floor"]
    where unsafe access(path, X_OK) != 0 {
      throw Failure(description: "there is no \(path): `make bench` builds it")
    }
    do {
      _ = try DescriptorLimit.raise()
      try ProcessorBinding(BenchPlacement.loadProcessor).end()
    } catch {
      throw Failure(description: "two processors, 0 and 1, are needed: \(error)")
    }
  }

  private static func chosen(_ settings: Settings) throws(Failure) -> [BenchItem] {
    guard let rows = settings.rows else {
      return BenchItem.all
    }
    for name in rows where !BenchItem.all.contains(where: { $0.matches(name) }) {
      throw Failure(
        description: "there is no row \"\(name)\"; there are \(rowNames.joined(separator: ", "))",
        isUsage: true)
    }
    return BenchItem.all.filter { item in rows.contains(where: item.matches) }
  }

  /// The rows that are to be measured.
  public var chosenRows: Set<String> { Set(items.flatMap(\.ids)) }

  /// Measures, and blocks until it is over.
  public func run() throws(Failure) -> BenchReport {
    let folder = "\(settings.built)/run.\(getpid())"
    Self.removeLeftovers(in: settings.built)
    guard unsafe mkdir(folder, 0o700) == 0 else {
      throw Failure(description: "no folder can be made in \(settings.built): errno \(errno)")
    }
    temporaryFolder = folder
    defer { Directory.remove(folder) }
    report.facts.append(BenchMachine.disk(folder))
    let began = Instant.now()
    let busyBefore = BenchMachine.busySeconds
    for (index, item) in items.enumerated() {
      tell("\(index + 1)/\(items.count) \(item.ids[0]): \(item.title)")
      do {
        report.rows += try item.measure(self)
      } catch {
        report.rows += item.ids.map { id in
          var row = BenchRow(id, item.title, .times)
          row.fault = "\(error)"
          return row
        }
      }
    }
    report.seconds = Double(Instant.now().nanoseconds(since: began)) / 1e9
    report.coresTakenByOthers = max(0, (BenchMachine.busySeconds - busyBefore) / report.seconds)
    return report
  }

  /// What runs that were interrupted could not remove; their names end with their process.
  private static func removeLeftovers(in folder: String) {
    for entry in (try? Directory.entries(of: folder)) ?? [] where entry.name.hasPrefix("run.") {
      guard let id = pid_t(entry.name.dropFirst(4)), id == getpid() || kill(id, 0) != 0 else {
        continue
      }
      Directory.remove("\(folder)/\(entry.name)")
    }
  }

  // MARK: What the rows need

  var isQuick: Bool { settings.extent == .quick }
  /// Pairs of floor and relay; the ratio is the median's.
  var pairs: Int { isQuick ? 1 : 3 }
  /// Of each load.
  var seconds: Double { isQuick ? 0.5 : 1.5 }

  func start(_ program: BenchProgram, _ placement: BenchPlacement = .apart) throws -> BenchServer {
    try BenchServer(program, in: temporaryFolder, processor: placement.server)
  }

  /// The plan of a load, with rooms that no other has.
  func plan(_ load: BenchLoad, _ server: BenchServer, seconds: Double? = nil) -> RawLoad.Plan? {
    guard var plan = load.plan(for: server) else { return nil }
    plan.seconds = seconds ?? self.seconds
    name(&plan, server)
    return plan
  }

  func name(_ plan: inout RawLoad.Plan, _ server: BenchServer) {
    numberOfPlans += 1
    // The floor's rooms are numbers.
    plan.roomPrefix = server.program.name == "floor" ? "" : "b\(numberOfPlans)-"
  }

  /// Bytes of a delivery of the relay, which all are given: what it tells of a message, and a text.
  func deliveryBytes() throws -> Int {
    if let knownDeliveryBytes { return knownDeliveryBytes }
    let server = try start(.relay(places))
    let load = BenchLoad.room(members: 200, window: 1)
    guard let plan = plan(load, server, seconds: 0.3) else { return 0 }
    let sample = try BenchSample(plan, server, processor: BenchPlacement.apart.load)
    guard sample.fault == nil, sample.result.counts.deliveries > 0 else {
      throw Failure(description: sample.fault ?? "the relay delivers nothing")
    }
    let bytes = sample.result.counts.bytes / sample.result.counts.deliveries
    report.facts.append(.init("bytes of a delivery", "\(bytes)"))
    knownDeliveryBytes = bytes
    return bytes
  }

  /// How fast this machine is beside the one of which the goals speak: by its floor, a room of
  /// 1,000, 128 bytes, one in flight.
  func machineFactor() throws -> Double {
    if let knownFactor { return knownFactor }
    // 244 k deliveries for each second of processor time were 0.96 of the floor.
    let reference = 244_000 / 0.96
    let server = try start(.floor(places, deliveryBytes: 128))
    let load = BenchLoad.room(members: 1000, window: 1)
    var figures: [Double] = []
    for _ in 0..<pairs {
      guard let plan = plan(load, server) else { break }
      figures.append(
        try BenchSample(plan, server, processor: BenchPlacement.apart.load).deliveriesPerCPUSecond)
    }
    let figure = BenchRow.median(figures) ?? reference
    let factor = figure / reference
    report.facts.append(
      .init(
        "floor, room of 1,000, 128 B, 1 in flight",
        "\(BenchTable.figure(figure, .deliveries)) deliveries / CPU s,"
          + " \(BenchTable.figure(factor, .times)) of the machine behind the goals"))
    knownFactor = factor
    return factor
  }
}
