/// What a run with files has found.
public struct FileReport: Sendable {
  private static let keptViolations = 20

  let plan: FilePlan
  var relayKills = 0
  var clientKills = 0
  var seconds = 0.0
  /// By all clients, with the heads of their requests.
  var sentBytes: Int64 = 0
  var acknowledged = 0
  var deleted = 0
  var served = 0
  /// The number of hashes in the relay's folder.
  var stored = 0
  /// Each is a sentence without a full stop; not all of many.
  public private(set) var violations: [String] = []

  init(_ plan: FilePlan) { self.plan = plan }

  mutating func add(_ violation: String) {
    if violations.count < Self.keptViolations { violations.append(violation) }
  }

  var sentRatio: String { Decimal.short(Double(sentBytes) / Double(max(1, plan.bytes))) }

  public var text: String {
    let settings = plan.settings
    var lines = [
      "files: seed \(settings.seed), \(settings.uploads) uploads of \(FilePlan.smallestBytes) to"
        + " \(settings.largestBytes) bytes, \(plan.bytes >> 20) MiB, by \(settings.clients) clients",
      "  \(relayKills) kills of the relay and \(clientKills) of clients in \(Decimal.text(seconds)) s",
      "  \(acknowledged) acknowledged, \(deleted) of them deleted, \(served) served with their bytes,"
        + " \(stored) contents stored",
      "  \(sentRatio) bytes sent for each byte of a file",
    ]
    lines += violations.map { "  BROKEN \($0)" }
    return lines.joined(separator: "\n") + "\n"
  }
}
