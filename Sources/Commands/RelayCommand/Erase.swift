import ArgumentParser
import Directories
import Platform
import Relay
internal import RelayConfiguration
import SQLiteLog
import Server
internal import Wire

/// The subcommand `erase`: removes all that a relay has of a person.
struct Erase: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Remove all that the relay has of a person, and search its files for what is left.",
    discussion: """
      Texts, data, edits and reactions lose their content, as if they were deleted, and so do forwards of \
      them and copies in reports; memberships, roles, marks, blocks, files and the account go. The user is banned \
      first, and stays so. The running relay does it between the messages of others; without one it is done \
      here. What was interrupted is continued by running it again. Prints what was removed, by room. It cannot \
      be undone: see relay export --user.
      """)

  @Option(parsing: .unconditional, help: ArgumentHelp("The person's user name.", valueName: "u"))
  var user: String

  @OptionGroup var relay: RunningRelay

  /// How many of the places are printed at which something is left; their number is printed as well.
  private static let findingsLimit = 20

  func validate() throws {
    guard UserName.isValid(user), user != UserName.relay else {
      throw ValidationError("--user must be the name of a user.")
    }
  }

  func run() throws {
    let configuration = try relay.load()
    let place = StorePlace(configuration)
    let isRunning = Self.isRunning(configuration)
    if case .postgresql = place, !isRunning {
      StandardError.write(
        "No relay of this log runs with the data folder \(configuration.dataFolder), and in PostgreSQL only a "
          + "relay can erase. Start it, and run relay erase with its configuration.\n")
      throw ExitCode.configuration
    }
    try StoreOptions.explaining {
      if case .sqlite(let folder) = place, !isRunning, !Store.exists(folder: folder) {
        throw StoreError.absent(in: folder)
      }
      let stopped =
        isRunning ? nil : try StoppedRelay(configuration) { StandardError.write("\($0)\n") }
      var erasure = PersonErasure(of: user, in: place) { messages in
        do {
          if let stopped { return try stopped.perform(messages) }
          try OperatorRequest.perform(messages, socketIn: configuration.dataFolder)
        } catch {
          throw StoreError(
            .environment,
            "\(error) The erasure of \(user) is not complete: run relay erase again to continue.")
        }
      }
      do {
        defer { stopped?.stop() }
        try erasure.run()
        try stopped?.removeFiles(of: user)
      }
      for line in erasure.report.lines { StandardOutput.write("\(line)\n") }
      try search(erasure, place)
    }
  }

  private static func isRunning(_ configuration: Configuration) -> Bool {
    do throws(OperatorRequest.Failure) {
      _ = try OperatorRequest.send("/healthz", socketIn: configuration.dataFolder)
      return true
    } catch {
      return false
    }
  }

  /// Searches the files; what is left is an error.
  private func search(_ erasure: PersonErasure, _ place: StorePlace) throws {
    guard case .sqlite(let folder) = place else {
      StandardError.write(
        "Old rows are in the files of PostgreSQL until it has vacuumed the tables, and in its archive.\n"
      )
      return
    }
    let result = try erasure.search(folder: folder)
    for finding in result.findings.prefix(Self.findingsLimit) {
      StandardError.write("\(finding.path) still has a piece of it at byte \(finding.offset).\n")
    }
    StandardOutput.write(
      "searched\t\(result.bytes.counted("byte")) of \(result.files.counted("file")) for "
        + "\(erasure.sampleCount.counted("piece")): "
        + "\(result.findings.count) found\n")
    guard result.findings.isEmpty else {
      StandardError.write(
        "If another program reads the store, such as a relay export, wait for its end. Then stop the relay, "
          + "and start it: that removes what is left.\n")
      throw ExitCode.configuration
    }
  }
}
