/// A comparison of a run with a baseline. Only ratios to the floor are compared, because they are
/// similar on other machines.
public struct BenchJudgement: Equatable, Sendable {
  /// A ratio that fell.
  public struct Fall: Equatable, Sendable, CustomStringConvertible {
    /// The row's id.
    public var id: String
    /// The baseline's ratio.
    public var before: Double
    /// The ratio of this run.
    public var after: Double

    /// A single line for the user.
    public var description: String {
      "\(id): \(Self.short(after)) × floor, \(Self.short((1 - after / before) * 100)) % below"
        + " the baseline's \(Self.short(before))"
    }

    private static func short(_ value: Double) -> String {
      Decimal.short((value * 100).rounded() / 100)
    }
  }

  /// The tolerated relative fall below the baseline's ratio.
  public static let toleratedFall = 0.15

  /// In the order of the rows.
  public private(set) var falls: [Fall] = []
  /// The number of rows that both have.
  public private(set) var compared = 0
  /// Rows that have a ratio in the baseline but not in this run, although they were selected.
  public private(set) var missing: [String] = []

  /// - Parameter selected: The rows that were to be measured; `nil`: all.
  public init(_ report: BenchReport, against baseline: BenchReport, selected: Set<String>? = nil) {
    for old in baseline.rows {
      guard let before = old.ratio, before > 0, selected?.contains(old.id) ?? true else { continue }
      guard let new = report.rows.first(where: { $0.id == old.id }), let after = new.ratio else {
        missing.append(old.id)
        continue
      }
      compared += 1
      if after < before * (1 - Self.toleratedFall) {
        falls.append(Fall(id: old.id, before: before, after: after))
      }
    }
  }

  /// Whether no ratio fell and no row is missing.
  public var isGood: Bool { falls.isEmpty && missing.isEmpty }

  /// Lines for the user.
  public var text: String {
    var lines = falls.map { "regression: \($0)" }
    lines += missing.map { "regression: \($0) has a baseline, but no figure in this run" }
    if isGood {
      lines.append(
        "baseline: none of \(compared) ratios fell by more than"
          + " \(Decimal.short(Self.toleratedFall * 100)) %")
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
