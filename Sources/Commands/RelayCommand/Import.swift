import ArgumentParser
import Platform
import Server

/// The subcommand `import`: reads JSON lines into a store.
struct Import: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Read entries, as `relay export` writes them, from standard input.",
    discussion: """
      Imports all lines or none. Fails if a relay has the store open, or if the store already has \
      one of the rooms.
      """)

  @OptionGroup var store: StoreOptions

  func run() throws {
    let input = InputLines()
    let count = try store.use {
      try $0.import(report: { StandardError.write("\($0)\n") }) { try input.next() }
    }
    StandardError.write("\(count)\n")
  }
}
