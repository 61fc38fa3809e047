/// One row of the benchmark's table: what was measured, and with what it is compared.
public struct BenchRow: Equatable, Sendable {
  /// The unit of a row's figures.
  public enum Unit: String, Sendable {
    /// Messages that reached a member, per second of the server's CPU time.
    case deliveries = "deliveries / CPU s"
    /// Connections that became members, per second.
    case connections = "connections / s"
    /// The same, per second of the server's CPU time.
    case connectionsByCPU = "connections / CPU s"
    /// Entries that were written or caught up with, per second.
    case entries = "entries / s"
    /// The server's memory.
    case bytes = "bytes"
    /// Latency.
    case milliseconds = "ms"
    /// CPU time.
    case microseconds = "µs CPU"
    /// The ratio of the most expensive to the cheapest.
    case times = "×"
  }

  /// The goal of the relay.
  public enum Goal: Equatable, Sendable {
    /// At least this multiple of the library's figure in the same run.
    case ofLibrary(Double)
    /// At least this.
    case atLeast(Double)
    /// At most this.
    case atMost(Double)
  }

  /// Measurements of floor and relay, taken one right after the other.
  public struct Pair: Equatable, Sendable {
    /// The floor's figure.
    public var floor: Double
    /// The relay's figure.
    public var relay: Double

    /// Creates a pair.
    public init(floor: Double, relay: Double) {
      self.floor = floor
      self.relay = relay
    }
  }

  /// Another server under the same load.
  public struct Peer: Equatable, Sendable {
    /// The name.
    public var name: String
    /// `nil` if it could not be measured; ``note`` says why.
    public var figure: Double?
    /// Additional information.
    public var note: String
    /// Its figures if it was measured in turn with floor and relay: one for each of the row's pairs.
    /// Empty if it was measured once.
    public var runs: [Double]

    /// Creates a peer.
    public init(name: String, figure: Double?, note: String = "", runs: [Double] = []) {
      self.name = name
      self.figure = figure
      self.note = note
      self.runs = runs
    }
  }

  /// One measurement of a sweep.
  public struct Point: Equatable, Sendable {
    /// The line of the row's plot to which it belongs.
    public var line: String
    /// The value of the swept quantity.
    public var x: Double
    /// In the unit of the row or the line.
    public var y: Double

    /// Creates a point.
    public init(line: String, x: Double, y: Double) {
      self.line = line
      self.x = x
      self.y = y
    }
  }

  /// An additional figure of a row.
  public struct Detail: Equatable, Sendable {
    /// The name, with its unit.
    public var name: String
    /// The value.
    public var value: Double

    /// Creates a detail.
    public init(_ name: String, _ value: Double) {
      self.name = name
      self.value = value
    }
  }

  /// The id, on the command line and in the baseline.
  public var id: String
  /// The description for the user.
  public var work: String
  /// The unit of the figures.
  public var unit: Unit
  /// The goal of the relay; `nil` if there is none.
  public var goal: Goal?
  /// Whether relay and load share the cores.
  public var isShared = false
  /// Floor and relay alternately; empty if there is no floor.
  public var pairs: [Pair] = []
  /// The relay's figure if there are no pairs.
  public var alone: Double?
  /// The floor's figure if there are no pairs.
  public var floorAlone: Double?
  /// The peers.
  public var peers: [Peer] = []
  /// The points of a sweep.
  public var points: [Point] = []
  /// Additional figures.
  public var details: [Detail] = []
  /// Sentences for the user.
  public var notes: [String] = []
  /// Why there is no figure, or why it is not reliable.
  public var fault: String?

  /// Creates a row that is still to be measured.
  public init(_ id: String, _ work: String, _ unit: Unit, goal: Goal? = nil) {
    self.id = id
    self.work = work
    self.unit = unit
    self.goal = goal
  }
}

extension BenchRow {
  /// The floor's figure: the median over the pairs.
  public var floor: Double? { pairs.isEmpty ? floorAlone : Self.median(pairs.map(\.floor)) }

  /// The relay's figure: the median over the pairs.
  public var relay: Double? { pairs.isEmpty ? alone : Self.median(pairs.map(\.relay)) }

  /// The ratios of relay to floor, one for each pair.
  var ratios: [Double] { pairs.filter { $0.floor > 0 }.map { $0.relay / $0.floor } }

  /// The ratio of relay to floor: the median over the pairs, because a disturbance of the machine
  /// affects both of a pair.
  public var ratio: Double? { Self.median(ratios) }

  /// The name of the library that goals refer to. It is measured in turn with floor and relay.
  public static let libraryName = "uWebSockets"

  /// The library; `nil` if it was not measured.
  public var library: Peer? { peers.first { $0.name == Self.libraryName } }

  /// The peers except the library.
  public var otherPeers: [Peer] { peers.filter { $0.name != Self.libraryName } }

  /// The ratios of relay to library: one for each pair, or one alone.
  public var libraryRatios: [Double] {
    guard let library else { return [] }
    if !library.runs.isEmpty, library.runs.count == pairs.count {
      return zip(pairs, library.runs).filter { $1 > 0 }.map { $0.relay / $1 }
    }
    guard let relay, let figure = library.figure, figure > 0 else { return [] }
    return [relay / figure]
  }

  /// The ratio of relay to library: the median.
  public var libraryRatio: Double? { Self.median(libraryRatios) }

  /// Whether the goal was reached; `nil` if there is none or nothing was measured.
  public var isMet: Bool? {
    guard let goal, fault == nil else { return nil }
    return switch goal {
    case .ofLibrary(let factor): libraryRatio.map { $0 >= factor }
    case .atLeast(let least): relay.map { $0 >= least }
    case .atMost(let most): relay.map { $0 <= most }
    }
  }

  /// Returns the median.
  static func median(_ values: [Double]) -> Double? {
    guard !values.isEmpty else { return nil }
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2)
      ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
  }
}
