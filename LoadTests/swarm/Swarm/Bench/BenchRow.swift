/// One row of the benchmark's table: what was measured, and what it is held against.
public struct BenchRow: Equatable, Sendable {
  /// What a figure counts.
  public enum Unit: String, CaseIterable, Sendable {
    /// Messages that reached a member, for each second of the server's processor time.
    case deliveries = "deliveries / CPU s"
    /// Connections that became members, a second.
    case connections = "connections / s"
    /// Entries that were written, or caught up with, a second.
    case entries = "entries / s"
    /// The server's memory.
    case bytes = "bytes"
    /// Of waiting.
    case milliseconds = "ms"
    /// Of processor time.
    case microseconds = "µs CPU"
    /// The dearest in parts of the cheapest.
    case times = "×"
  }

  /// What the relay is to reach.
  public enum Goal: Equatable, Sendable {
    /// So many times the floor's figure of the same run.
    case ofFloor(Double)
    /// That or more.
    case atLeast(Double)
    /// That or less.
    case atMost(Double)
  }

  /// Floor and relay, one right after the other.
  public struct Pair: Equatable, Sendable {
    /// The floor's figure.
    public var floor: Double
    /// The relay's.
    public var relay: Double

    /// Both.
    public init(floor: Double, relay: Double) {
      self.floor = floor
      self.relay = relay
    }
  }

  /// Another server, doing the same.
  public struct Peer: Equatable, Sendable {
    /// What it is called.
    public var name: String
    /// `nil` where it could not be measured; ``note`` says why.
    public var figure: Double?
    /// What else there is to know.
    public var note: String

    /// Another server's figure.
    public init(name: String, figure: Double?, note: String = "") {
      self.name = name
      self.figure = figure
      self.note = note
    }
  }

  /// One measurement of a sweep.
  public struct Point: Equatable, Sendable {
    /// Which of the row's lines it belongs to.
    public var line: String
    /// How many there were of what is swept.
    public var x: Double
    /// In the row's or the line's unit.
    public var y: Double

    /// One measurement.
    public init(line: String, x: Double, y: Double) {
      self.line = line
      self.x = x
      self.y = y
    }
  }

  /// A figure that stands beside the row's.
  public struct Detail: Equatable, Sendable {
    /// With its unit.
    public var name: String
    /// What it is.
    public var value: Double

    /// A figure with its name.
    public init(_ name: String, _ value: Double) {
      self.name = name
      self.value = value
    }
  }

  /// What it is called on the command line and in the baseline.
  public var id: String
  /// The same for a person.
  public var work: String
  /// What the figures count.
  public var unit: Unit
  /// What the relay is to reach; `nil` where no goal is set.
  public var goal: Goal?
  /// Whether relay and load share the cores.
  public var isShared = false
  /// Floor and relay in turn; empty where there is no floor.
  public var pairs: [Pair] = []
  /// The relay's figure where there are no pairs.
  public var alone: Double?
  /// The floor's where there are no pairs.
  public var floorAlone: Double?
  /// Others, side by side.
  public var peers: [Peer] = []
  /// Of a sweep.
  public var points: [Point] = []
  /// What else was measured.
  public var details: [Detail] = []
  /// Sentences for a person.
  public var notes: [String] = []
  /// Why there is no figure, or why it cannot be trusted.
  public var fault: String?

  /// A row that is still to be measured.
  public init(_ id: String, _ work: String, _ unit: Unit, goal: Goal? = nil) {
    self.id = id
    self.work = work
    self.unit = unit
    self.goal = goal
  }
}

extension BenchRow {
  /// The floor's figure: the median of its own.
  public var floor: Double? { pairs.isEmpty ? floorAlone : Self.median(pairs.map(\.floor)) }

  /// The relay's: the median of its own.
  public var relay: Double? { pairs.isEmpty ? alone : Self.median(pairs.map(\.relay)) }

  /// The relay in parts of the floor: the median over the pairs, since what disturbs a machine
  /// disturbs both of a pair.
  public var ratio: Double? {
    Self.median(pairs.filter { $0.floor > 0 }.map { $0.relay / $0.floor })
  }

  /// Whether the goal was reached; `nil` where there is none, or nothing was measured.
  public var isMet: Bool? {
    guard let goal, fault == nil else { return nil }
    return switch goal {
    case .ofFloor(let factor): ratio.map { $0 >= factor }
    case .atLeast(let least): relay.map { $0 >= least }
    case .atMost(let most): relay.map { $0 <= most }
    }
  }

  /// The middle one, or the mean of the two in the middle.
  static func median(_ values: [Double]) -> Double? {
    guard !values.isEmpty else { return nil }
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2)
      ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
  }
}
