import ArgumentParser
import Glibc
import SQLiteLog
import Server

/// The subcommand `import`: reads JSON lines into a store.
struct Import: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Read entries, as `relay export` writes them, from standard input.",
    discussion: """
      All of it is taken or nothing. Refused where a relay has the store open, or where the store \
      has such a room already.
      """)

  @OptionGroup var store: StoreOptions

  func run() throws {
    let input = LineStream(STDIN_FILENO, "r")
    let count = try store.use {
      try Store.import(directory: $0) { input.next() }
    }
    StandardError.write("\(count.rooms) rooms, \(count.entries) entries\n")
  }
}
