import ArgumentParser
import Directories
import Platform
internal import RelayConfiguration
internal import Wire

/// The subcommand `trace`: asks a running relay for the path of one entry.
struct Trace: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show when an entry was received, stored and delivered, and who has read it.",
    discussion: """
      Asks the running relay, which keeps this for its last entries only. On the relay's machine no \
      token is needed; elsewhere, --url and the token of the entry's sender or of a user in \
      auth.operators. Times are in milliseconds since the entry was received.
      """)

  @Option(help: "The room.")
  var room: String

  @Option(help: "The id of the entry; the last one, if several users have sent it.")
  var id: String?

  @Option(help: ArgumentHelp("The number of the entry.", valueName: "n"))
  var seq: Int64?

  @Option(
    help: ArgumentHelp(
      "The relay, such as https://chat.example.org (default: listen in the configuration).",
      valueName: "url"))
  var url: String?

  @Option(
    help: "A token; other users of this machine can see it in the list of processes.")
  var token: String?

  @Flag(help: "Print the relay's answer, which is JSON.")
  var json = false

  @OptionGroup var options: ConfigurationOptions

  func validate() throws {
    guard (id == nil) != (seq == nil) else {
      throw ValidationError("Exactly one of --id and --seq is required.")
    }
    if let seq, seq < 1 { throw ValidationError("--seq must be at least 1.") }
    if let url, WebAddress(url) == nil {
      throw ValidationError("--url must begin with http:// or https://.")
    }
  }

  func run() throws {
    let base = try url ?? Self.url(of: options.load())
    let entry = id.map { "\(WebAddress.escaped($0))/trace?by=id" } ?? "\(seq ?? 0)/trace"
    let path = "/v1/rooms/\(WebAddress.escaped(room))/messages/\(entry)"
    let answer: (status: Int, body: [UInt8])
    do throws(WebPage.Failure) {
      answer = try WebPage.get(
        base + path, headers: token.map { ["Authorization: Bearer \($0)"] } ?? [])
    } catch {
      StandardError.write("Cannot ask the relay at \(base): \(error).\n")
      throw ExitCode.configuration
    }
    guard answer.status == 200, let trace = JSONNode(answer.body), trace.isObject else {
      let detail = JSONNode(answer.body)?["detail"]?.string
      StandardError.write("\(detail ?? "\(base) answers with status \(answer.status).")\n")
      throw ExitCode.configuration
    }
    if json {
      StandardOutput.write(answer.body + [UInt8(ascii: "\n")])
    } else {
      StandardOutput.write("\(TraceTable(trace))")
    }
  }

  /// Returns where the relay of a configuration is reached from its own machine.
  static func url(of configuration: Configuration) -> String {
    let scheme = configuration.tls.isOff ? "http" : "https"
    guard let address = Configuration.ListenAddress(configuration.listen) else {
      preconditionFailure("a loaded configuration has a valid address")
    }
    let host =
      switch address.host {
      case "0.0.0.0": "127.0.0.1"
      case "::": "[::1]"
      default: address.host.contains(":") ? "[\(address.host)]" : address.host
      }
    return "\(scheme)://\(host):\(address.port)"
  }
}
