/// A run held against an earlier one: only ratios to the floor, which another machine shares.
public struct BenchJudgement: Equatable, Sendable {
  /// A ratio that fell.
  public struct Fall: Equatable, Sendable, CustomStringConvertible {
    /// The row's.
    public var id: String
    /// The baseline's ratio.
    public var before: Double
    /// Today's.
    public var after: Double

    /// One line for a person.
    public var description: String {
      "\(id): \(Self.short(after)) × floor, \(Self.short((1 - after / before) * 100)) % below"
        + " the baseline's \(Self.short(before))"
    }

    private static func short(_ value: Double) -> String {
      Decimal.short((value * 100).rounded() / 100)
    }
  }

  /// A ratio may be so much below the baseline's.
  public static let toleratedFall = 0.15

  /// In the order of the rows.
  public private(set) var falls: [Fall] = []
  /// Rows that both have.
  public private(set) var compared = 0
  /// Rows that the baseline has a ratio for and this run should have, but has not.
  public private(set) var missing: [String] = []

  /// - Parameter selected: what was to be measured; `nil`: everything.
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

  /// Whether nothing fell, and nothing is missing.
  public var isGood: Bool { falls.isEmpty && missing.isEmpty }

  /// Lines for a person.
  public var text: String {
    var lines = falls.map { "regression: \($0)" }
    lines += missing.map { "regression: \($0) has a baseline, and no figure today" }
    if isGood {
      lines.append(
        "baseline: none of \(compared) ratios fell by more than"
          + " \(Decimal.short(Self.toleratedFall * 100)) %")
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
