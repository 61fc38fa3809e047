import ArgumentParser
import Platform
internal import RelayConfiguration
import Server

/// The subcommand `migrate`: brings the schema of a store up to date.
struct Migrate: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Create the tables of the store, or bring them up to date.",
    discussion: """
      A relay does the same when it starts. In PostgreSQL this may be done beforehand, by a user that \
      may create tables, so that relays need no such right.
      """)

  @OptionGroup var store: StoreOptions

  func run() throws {
    let sentence = try store.use { try $0.migrate { StandardError.write("\($0)\n") } }
    StandardOutput.write("\(sentence)\n")
  }
}
