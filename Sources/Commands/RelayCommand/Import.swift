import ArgumentParser
import Platform
import Server

/// The subcommand `import`: reads JSON lines, or the export of another chat, into a store.
struct Import: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Read entries, as `relay export` writes them, from standard input, or another chat's export.",
    discussion: """
      Imports all lines or none. Fails if a relay has the store open, or if the store already has \
      one of the rooms; with --from such rooms are left out, so that it can be repeated.
      """)

  @OptionGroup var chat: ChatImportOptions

  @OptionGroup var store: StoreOptions

  func run() throws {
    if try chat.run(into: store) { return }
    let input = InputLines()
    let count = try store.use {
      try $0.import(report: { StandardError.write("\($0)\n") }) { try input.next() }
    }
    StandardError.write("\(count)\n")
  }
}
