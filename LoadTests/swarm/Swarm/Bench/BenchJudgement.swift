internal import YAML

/// A comparison of a run with a baseline. Only ratios to the floor are compared, because they are
/// similar on other machines.
public struct BenchJudgement: Sendable {
  /// The ratios of an earlier run, by row.
  public struct Baseline: Sendable {
    /// Why a file is no baseline; prints as a sentence.
    public struct Failure: Error, Equatable, CustomStringConvertible {
      /// A single line for the user.
      public var description: String
    }

    /// In the order of the rows.
    let ratios: [(id: String, ratio: Double)]

    /// Reads the output of ``BenchJSON``.
    ///
    /// - Parameter file: The name of the file for errors.
    public init(_ bytes: [UInt8], file: String) throws(Failure) {
      let document = YAMLDocument(bytes)
      guard document.faults.isEmpty, let root = document.root, root["bench"] != nil,
        let rows = root["rows"]?.list
      else {
        throw Failure(description: "\(file): not a report of swarm bench")
      }
      ratios = rows.compactMap { row in row.figure("ratio").map { (row.words("id"), $0) } }
    }
  }

  /// The tolerated relative fall below the baseline's ratio.
  static let toleratedFall = 0.15

  /// What fell or is missing, a line each.
  private(set) var regressions: [String] = []
  /// The number of rows that both have.
  private(set) var compared = 0

  /// - Parameter selected: The rows that were to be measured; `nil`: all.
  public init(_ report: BenchReport, against baseline: Baseline, selected: Set<String>? = nil) {
    for (id, before) in baseline.ratios where selected?.contains(id) ?? true {
      guard let after = report.rows.first(where: { $0.id == id })?.ratio else {
        regressions.append("\(id) has a baseline, but no figure in this run")
        continue
      }
      compared += 1
      if after < before * (1 - Self.toleratedFall) {
        regressions.append(
          "\(id): \(BenchTable.hundredths(after)) × floor,"
            + " \(Decimal.text((1 - after / before) * 100)) % below the baseline's"
            + " \(BenchTable.hundredths(before))")
      }
    }
  }

  /// Whether no ratio fell and no row is missing.
  public var isGood: Bool { regressions.isEmpty }

  /// Lines for the user.
  public var text: String {
    guard isGood else { return regressions.map { "regression: \($0)\n" }.joined() }
    return "baseline: none of \(compared) ratios fell by more than"
      + " \(Decimal.short(Self.toleratedFall * 100)) %\n"
  }
}
