import ArgumentParser
import Glibc
import Platform
import Server

/// The subcommand `export`: writes a store as JSON lines.
struct Export: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write the entries as JSON, one per line, in the order in which they were stored.",
    discussion: """
      The members of the rooms follow, with their marks. May run beside a relay that has the store \
      open.
      """)

  @OptionGroup var store: StoreOptions

  @Option(help: "Only this room.")
  var room: String?

  func run() throws {
    let output = LineStream(STDOUT_FILENO, "w")
    let room = room
    let count = try store.use {
      try $0.export(room: room) { output.write($0) }
    }
    guard output.flush() else {
      StandardError.write("Could not write all entries to standard output.\n")
      throw ExitCode.environment
    }
    StandardError.write("\(count)\n")
  }
}
