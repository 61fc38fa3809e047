import ArgumentParser
import Platform
import Relay
import Server

/// The subcommand `verify`: checks the integrity of a store.
struct Verify: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Read the whole store and check that no entry is missing, duplicated or damaged.",
    discussion: """
      The bytes of the files that entries name are read as well. \
      May run beside a relay that has the store open; it then checks a snapshot. \
      Prints each error; the exit code is 3 if there are any.
      """)

  @OptionGroup var store: StoreOptions

  func run() throws {
    let verification = try store.use { try $0.verify() }
    for place in verification.breaks { StandardOutput.write("\(place)\n") }
    if verification.breakCount > verification.breaks.count {
      StandardOutput.write("and \(verification.breakCount - verification.breaks.count) more\n")
    }
    for note in verification.notes { StandardError.write("\(note)\n") }
    StandardOutput.write("\(verification.count)\n")
    if verification.breakCount > 0 { throw ExitCode.brokenData }
  }
}
