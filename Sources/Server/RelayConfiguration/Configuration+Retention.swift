public import Relay
internal import YAML

extension Configuration {
  /// The rules of `retention` and `log.keep_entries_per_room`.
  public var retained: Retention {
    Retention(retention, keepEntriesPerRoom: Int64(log.keepEntriesPerRoom))
  }

  /// The rules of retention that never apply, as sentences for the operator.
  public var hiddenRetentionRules: [String] {
    let rules = retained.rules
    return retained.hiddenRules.map { rule, earlier in
      let (subject, advice) =
        rule < retention.count
        ? (
          "The rule of retention for \(YAMLText.quoted(rules[rule].rooms.text))",
          "Move it before that rule, or remove it."
        ) : ("log.keep_entries_per_room", "Remove one of the two.")
      return "\(subject) never applies, because the earlier rule for "
        + "\(YAMLText.quoted(rules[earlier].rooms.text)) matches all of its rooms. \(advice)"
    }
  }
}

extension Retention.Rule {
  static let keys = ["rooms", "days", "entries", "bytes"]
  private static let dayMilliseconds = 86_400_000.0
  private static let units: [(name: String, bytes: Int64)] = [
    ("kB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000),
  ]
  private static let bytesRange: ClosedRange<Int64> = 1...1_000_000_000_000_000

  /// Reads one element of `retention`; `nil` if it is faulty.
  init?(reading fields: inout YAMLFields) {
    let rooms = fields.required(
      "rooms", "expected a room, or a pattern of rooms such as logs:* (* any characters, ? one)",
      { $0.text.map { RoomPattern($0) }.flatMap { $0.isValid ? $0 : nil } })
    fields.owner = rooms.map { "the rule for \(YAMLText.quoted($0.text))" }
    let days = fields.optional(
      "days", "expected a number of days from 0.0001 to 36500", { $0.number(in: 0.0001...36_500) })
    let entries = fields.optional(
      "entries", "expected a whole number from 1 to 1000000000000",
      { $0.integer(as: Int64.self).flatMap { (1...1_000_000_000_000).contains($0) ? $0 : nil } })
    let bytes = fields.optional(
      "bytes", "expected a whole number of bytes, or one of kB, MB, GB or TB such as 500MB",
      Self.bytes(of:))
    if rooms != nil, !Self.keys.dropFirst().contains(where: { fields.has($0) }) {
      fields.report("days", "is missing", "expected at least one of days, entries and bytes")
    }
    guard fields.faults.isEmpty, let rooms else { return nil }
    self.init(
      rooms: rooms, milliseconds: days.map { Int64(($0 * Self.dayMilliseconds).rounded()) },
      entries: entries, bytes: bytes)
  }

  private static func bytes(of node: YAMLNode) -> Int64? {
    var text = node.text ?? ""
    let unit = units.first { text.hasSuffix($0.name) }
    if let unit { text.removeLast(unit.name.count) }
    guard let number = Int64(text), String(number) == text,
      case let (bytes, isOver) = number.multipliedReportingOverflow(by: unit?.bytes ?? 1), !isOver
    else { return nil }
    return bytesRange.contains(bytes) ? bytes : nil
  }

  /// The rule as YAML, one line per field.
  var described: [String] {
    var yaml = ["rooms: \(YAMLText.written(rooms.text))"]
    if let milliseconds {
      let days = Double(milliseconds) / Self.dayMilliseconds
      yaml.append("days: \(days == days.rounded() ? String(Int64(days)) : String(days))")
    }
    if let entries { yaml.append("entries: \(entries)") }
    if let bytes { yaml.append("bytes: \(bytes)") }
    return yaml
  }
}
