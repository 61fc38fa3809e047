internal import Glibc
internal import Platform

/// The benchmark: compares the relay with the floor and with its peers, row by row.
///
/// Confined to one thread, which it blocks.
public final class Bench {
  /// What is measured, and with which programs.
  public struct Settings: Sendable {
    /// The extent of the run.
    public var extent = BenchReport.Extent.usual
    /// Only these rows; a name selects all rows that begin with it. `nil`: all.
    public var rows: [String]?
    /// Whether peers are measured, too.
    public var withPeers = true
    /// The folder of `relay` and the programs built with it.
    public var commands: String
    /// The folder with the results of `make bench`; servers are given folders in it, on a real
    /// disk.
    public var built: String
    /// `LoadTests/peers`.
    public var peers: String
    /// The folder of uWebSockets, with which its server is compiled; `nil`: it is not measured.
    public var uWebSockets: String?
    /// Facts supplied by the caller: the compiler, the libraries.
    public var facts: [BenchReport.Fact] = []

    /// Selects all rows.
    public init(commands: String, built: String, peers: String) {
      self.commands = commands
      self.built = built
      self.peers = peers
    }
  }

  /// Why the benchmark cannot start; prints as a sentence.
  public struct Failure: Error, Equatable, CustomStringConvertible {
    /// A single line for the user.
    public var description: String
    /// Whether the arguments are invalid.
    public var isUsage = false
  }

  /// The names of all rows, in the order of the table.
  public static var rowNames: [String] { BenchItem.all.flatMap(\.ids) }

  let settings: Settings
  let places: BenchProgram.Places
  let tell: (String) -> Void
  private let items: [BenchItem]
  private var report: BenchReport
  /// A folder on a real disk, removed at the end of the run.
  private(set) var temporaryFolder = ""
  private var numberOfPlans = 0
  private var knownDeliveryBytes: Int?
  private var knownFactor: Double?

  /// - Parameter tell: Receives a line about each step.
  public init(_ settings: Settings, tell: @escaping (String) -> Void) throws(Failure) {
    self.settings = settings
    self.tell = tell
    places = BenchProgram.Places(
      commands: settings.commands, built: settings.built, peers: settings.peers,
      uWebSockets: settings.uWebSockets ?? "")
    items = try Self.chosen(settings)
    report = BenchReport(
      date: BenchMachine.date, extent: settings.extent,
      facts: BenchMachine.facts + settings.facts)
    for path in [settings.commands + "/relay", settings.built + "/floor"]
    where unsafe access(path, X_OK) != 0 {
      throw Failure(description: "\(path) is missing; `make bench` builds it")
    }
    do {
      _ = try DescriptorLimit.raise()
      try ProcessorBinding(BenchPlacement.loadProcessor).end()
    } catch {
      throw Failure(description: "processors 0 and 1 are required: \(error)")
    }
    try compileLibrary()
  }

  /// Whether uWebSockets is measured.
  var hasLibrary: Bool { settings.withPeers && settings.uWebSockets != nil }

  private func compileLibrary() throws(Failure) {
    guard settings.withPeers else { return }
    guard hasLibrary else {
      tell("uWebSockets is left out: --uwebsockets FOLDER names a checkout to compile it from")
      report.facts.append(.init(BenchRow.libraryName, "left out: no --uwebsockets"))
      return
    }
    tell("compiling the server for uWebSockets")
    try places.library.compile()
  }

  private static func chosen(_ settings: Settings) throws(Failure) -> [BenchItem] {
    guard let rows = settings.rows else {
      return BenchItem.all.filter { settings.extent == .full || !$0.isLong }
    }
    for name in rows where !BenchItem.all.contains(where: { $0.matches(name) }) {
      throw Failure(
        description: "there is no row \"\(name)\"; rows: \(rowNames.joined(separator: ", "))",
        isUsage: true)
    }
    return BenchItem.all.filter { item in rows.contains(where: item.matches) }
  }

  /// The selected rows.
  public var chosenRows: Set<String> { Set(items.flatMap(\.ids)) }

  /// Measures; blocks until it is done.
  public func run() throws(Failure) -> BenchReport {
    let folder = "\(settings.built)/run.\(getpid())"
    Self.removeLeftovers(in: settings.built)
    guard unsafe mkdir(folder, 0o700) == 0 else {
      throw Failure(description: "cannot create a folder in \(settings.built): errno \(errno)")
    }
    temporaryFolder = folder
    defer { Folder.remove(folder) }
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

  /// Removes the folders of interrupted runs, whose names end with the process id.
  private static func removeLeftovers(in folder: String) {
    for entry in (try? Folder.entries(of: folder)) ?? [] where entry.name.hasPrefix("run.") {
      guard let id = pid_t(entry.name.dropFirst(4)), id == getpid() || kill(id, 0) != 0 else {
        continue
      }
      Folder.remove("\(folder)/\(entry.name)")
    }
  }

  // MARK: Support for rows

  var isQuick: Bool { settings.extent == .quick }
  /// The number of pairs of floor and relay; the ratio is their median.
  var pairs: Int { isQuick ? 1 : 3 }
  /// The duration of each load.
  var seconds: Double { isQuick ? 0.5 : 1.5 }

  func start(_ program: BenchProgram, _ placement: BenchPlacement = .apart) throws -> BenchServer {
    try BenchServer(program, in: temporaryFolder, processor: placement.server)
  }

  /// Returns the plan of a load, with room names that no other plan has.
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

  /// Returns the size of the relay's delivery (the message with its metadata), which the other
  /// servers must match.
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
    report.facts.append(.init("bytes per delivery", "\(bytes)"))
    knownDeliveryBytes = bytes
    return bytes
  }

  /// Returns the speed of this machine relative to the one for which the goals were set: by its
  /// floor, in a room of 1,000, with 128 bytes and one message in flight.
  func machineFactor() throws -> Double {
    if let knownFactor { return knownFactor }
    // On the reference machine 244 k deliveries per second of CPU time were 0.96 of the floor.
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
          + " \(BenchTable.figure(factor, .times)) of the machine that the goals refer to"))
    knownFactor = factor
    return factor
  }
}
