import ArgumentParser
import Platform
import Server

/// The subcommand `export`: writes a store as JSON lines.
struct Export: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write the entries as JSON, one per line, in the order in which they were stored.",
    discussion: """
      The members of the rooms follow, with their marks. May run beside a relay that has the store \
      open. With --user, all that the store has of one person: what they have said, what they are in rooms, \
      their blocks and reports, and their account with its devices.
      """)

  @OptionGroup var store: StoreOptions

  @Option(parsing: .unconditional, help: "Only this room.")
  var room: String?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Only what there is of this user.", valueName: "u"))
  var user: String?

  @Option(
    help: ArgumentHelp(
      "With --user: the folder that receives the user's files, each as ID/NAME.", valueName: "dir"),
    completion: .directory)
  var files: String?

  func validate() throws {
    guard files == nil || user != nil else {
      throw ValidationError(
        "--files needs --user. Copy the folder files of the data folder, or the bucket (files.s3), beside the export of a whole store."
      )
    }
    guard user == nil || room == nil else {
      throw ValidationError("--user and --room cannot be combined.")
    }
  }

  private static let flushBytes = 64 << 10

  func run() throws {
    let room = room
    var bytes: [UInt8] = []
    func flush() throws {
      StandardOutput.write(bytes)
      bytes.removeAll(keepingCapacity: true)
      if StandardOutput.failure != nil { throw ExitCode.environment }
    }
    func write(_ line: [UInt8]) throws {
      bytes += line
      if bytes.count >= Self.flushBytes { try flush() }
    }
    let count = try store.use { place in
      if let user {
        // Also if a file is missing.
        defer { try? flush() }
        return try place.export(person: user, filesInto: files, write: write)
      }
      return "\(try place.export(room: room, write: write))"
    }
    try flush()
    StandardError.write("\(count)\n")
  }
}
