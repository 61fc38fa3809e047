/// What a run of the benchmark has found, and where.
public struct BenchReport: Equatable, Sendable {
  /// Something about the machine or the programs, such as the model of the processor.
  public struct Fact: Equatable, Sendable {
    /// What is described.
    public var name: String
    /// How it is.
    public var text: String

    /// A name and what stands behind it.
    public init(_ name: String, _ text: String) {
      self.name = name
      self.text = text
    }
  }

  /// How thorough the run was.
  public enum Extent: String, CaseIterable, Sendable {
    /// To see that it works; its figures say little.
    case quick
    /// What `make bench` does.
    case usual
    /// With what takes longer than a quarter of an hour.
    case full
  }

  /// UTC.
  public var date: String
  /// How thorough it was.
  public var extent: Extent
  /// How long it took.
  public var seconds = 0.0
  /// Of cores, what others took from this machine meanwhile, on average.
  public var coresTakenByOthers = 0.0
  /// The machine and the programs.
  public var facts: [Fact]
  /// In the order in which they were measured.
  public var rows: [BenchRow] = []

  /// A run that begins.
  public init(date: String, extent: Extent, facts: [Fact]) {
    self.date = date
    self.extent = extent
    self.facts = facts
  }

  /// More than this, and the figures are not this program's alone.
  public static let busyCores = 0.15

  /// What to think of the figures as a whole, one sentence each.
  public var warnings: [String] {
    var warnings: [String] = []
    if extent == .quick { warnings.append("a quick run: it shows that all works, not how fast") }
    if coresTakenByOthers > Self.busyCores {
      warnings.append(
        "the machine was busy: others used \(Decimal.short((coresTakenByOthers * 100).rounded()))"
          + " % of a core; ratios hold better than absolute figures, neither holds well")
    }
    return warnings
  }
}
