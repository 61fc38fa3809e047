import ArgumentParser
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

  private static let flushBytes = 64 << 10

  func run() throws {
    let room = room
    var bytes: [UInt8] = []
    func flush() throws {
      StandardOutput.write(bytes)
      bytes.removeAll(keepingCapacity: true)
      if StandardOutput.failure != nil { throw ExitCode.environment }
    }
    let count = try store.use {
      try $0.export(room: room) { line in
        bytes += line
        if bytes.count >= Self.flushBytes { try flush() }
      }
    }
    try flush()
    StandardError.write("\(count)\n")
  }
}
