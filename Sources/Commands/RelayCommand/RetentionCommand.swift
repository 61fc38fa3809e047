import ArgumentParser
import Platform
import Relay
internal import RelayConfiguration
import Server

/// The subcommand `retention`: says what retention would remove.
struct RetentionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retention",
    abstract: "Print what the rules of retention would remove.",
    discussion: """
      With --plan, prints a line for each room that a rule matches: the rule, the entries and bytes \
      that would go now, what would stay, and the oldest entry that would stay. Reads the whole store, \
      and changes nothing. May run beside a relay. The rules are those of the configuration; a running \
      relay has them after SIGHUP, and removes what is beyond them by itself.
      """)

  @Flag(help: "Print what would go; nothing is removed.")
  var plan = false

  @OptionGroup var options: ConfigurationOptions

  func validate() throws {
    guard plan else {
      throw ValidationError(
        "A running relay removes entries by itself. Use --plan to print what it would remove.")
    }
  }

  func run() throws {
    let configuration = try options.load()
    guard !configuration.retained.rules.isEmpty else {
      StandardOutput.write(
        "Every entry is kept: neither retention nor log.keep_entries_per_room is set.\n")
      return
    }
    for sentence in configuration.hiddenRetentionRules { StandardError.write("\(sentence)\n") }
    let plan = try StoreOptions.explaining {
      try StorePlace(configuration).retentionPlan(configuration.retained)
    }
    for row in plan.rows { StandardOutput.write(Self.line(row)) }
  }

  private static func line(_ row: RetentionPlan.Row) -> String {
    func amount(_ entries: Int, _ bytes: Int64) -> String {
      "\(entries.counted("entry", "entries")) (\(bytes.counted("byte")))"
    }
    let oldest = row.oldest.map { "oldest \($0.seq) of \(Ban.date($0.at))" } ?? "empty"
    return "\(row.room)\trule \(row.rule)\tgo \(amount(row.entries, row.bytes))\t"
      + "stay \(amount(row.keptEntries, row.keptBytes))\t\(oldest)\n"
  }
}
