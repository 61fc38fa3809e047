import ArgumentParser
import Client
import CommandMain

/// The client that the Autobahn suite tests: asks its server how many cases there are, and echoes
/// in each of them.
@main
struct ConformanceClient: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conformance-client",
    abstract: "Echo in every case of an Autobahn suite in its server mode.",
    discussion: """
      It ends with 0 when all cases have been gone through, which says nothing about how: that is in \
      the report of the suite. 1: the suite is not there, or did not say how many cases it has; \
      2: wrong usage.
      """)

  @Argument(help: "The suite, with a numeric host: ws://127.0.0.1:9001")
  var url: String

  @Option(help: "The name under which the report has this client.")
  var agent = "client"

  static func main() { runAsMain() }

  func run() throws {
    let run = try CaseRun(base: base, agent: agent)
    try run.play()
  }

  private var base: String { url.last == "/" ? String(url.dropLast()) : url }

  func validate() throws {
    do {
      guard try !RelayURL(base).isEncrypted else {
        throw ValidationError("The suite has no TLS: use ws://")
      }
    } catch let error as RelayURL.Invalid {
      throw ValidationError("\(error)")
    }
    guard !agent.isEmpty, agent.utf8.allSatisfy({ 0x30...0x7A ~= $0 || $0 == 0x2D }) else {
      throw ValidationError("--agent takes letters, digits and dashes.")
    }
  }
}
