/// The results of a run of the benchmark, and where it ran.
public struct BenchReport: Equatable, Sendable {
  /// A fact about the machine or the programs, such as the processor model.
  public struct Fact: Equatable, Sendable {
    /// The name.
    public var name: String
    /// The value.
    public var text: String

    /// Creates a fact.
    public init(_ name: String, _ text: String) {
      self.name = name
      self.text = text
    }
  }

  /// The extent of a run.
  public enum Extent: String, Sendable {
    /// A functional check; the figures mean little.
    case quick
    /// What `make bench` does.
    case usual
    /// Includes measurements that take longer than a quarter of an hour.
    case full
  }

  /// UTC.
  public var date: String
  /// The extent.
  public var extent: Extent
  /// The duration.
  public var seconds = 0.0
  /// The average number of cores that other processes used meanwhile.
  public var coresTakenByOthers = 0.0
  /// The machine and the programs.
  public var facts: [Fact]
  /// In the order of measurement.
  public var rows: [BenchRow] = []

  /// Creates the report of a run that begins.
  public init(date: String, extent: Extent, facts: [Fact]) {
    self.date = date
    self.extent = extent
    self.facts = facts
  }

  /// If other processes use more cores, the figures are distorted.
  public static let busyCores = 0.15

  /// Reservations about the figures as a whole, one sentence each.
  public var warnings: [String] {
    var warnings: [String] = []
    if extent == .quick {
      warnings.append("a quick run: it shows that everything works, not how fast")
    }
    if coresTakenByOthers > Self.busyCores {
      warnings.append(
        "the machine was busy: other processes used \(Decimal.short((coresTakenByOthers * 100).rounded()))"
          + " % of a core; ratios are more reliable than absolute figures, but neither is accurate")
    }
    return warnings
  }
}
