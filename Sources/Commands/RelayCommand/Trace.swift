import ArgumentParser
import Directories
import Glibc
import Platform
internal import RelayConfiguration
internal import Server
internal import Wire

/// The subcommand `trace`: asks a running relay for the path of one entry.
struct Trace: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show when an entry was received, stored and delivered, and who has read it.",
    discussion: """
      Asks the running relay, which keeps this for its last entries only, by the socket operator.sock \
      in its data folder; or by --url with the token of the entry's sender or of a user in \
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
      "The relay, such as https://chat.example.org (default: the socket in its data folder).",
      valueName: "url"))
  var url: String?

  @Option(
    help: ArgumentHelp("The relay's data folder.", valueName: "dir"), completion: .directory)
  var data: String?

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
    guard token == nil || url != nil else { throw ValidationError("--token needs --url.") }
    guard data == nil || url == nil else {
      throw ValidationError("--data and --url cannot be combined.")
    }
  }

  func run() throws {
    let entry = id.map { "\(WebAddress.escaped($0))/trace?by=id" } ?? "\(seq ?? 0)/trace"
    let path = "/v1/rooms/\(WebAddress.escaped(room))/messages/\(entry)"
    let folder = url == nil ? try options.load(.init(data: data)).dataFolder : ""
    let relay = url ?? "\(folder)/\(Server.operatorSocket)"
    let answer: (status: Int, body: [UInt8])
    do throws(WebPage.Failure) {
      if let url {
        answer = try WebPage.get(
          url + path, headers: token.map { ["Authorization: Bearer \($0)"] } ?? [])
      } else {
        answer = try OperatorRequest.send(path, socketIn: folder)
      }
    } catch {
      StandardError.write("Cannot ask the relay at \(relay): \(error).\n")
      throw ExitCode.configuration
    }
    guard answer.status == 200, let trace = JSONNode(answer.body), trace.isObject else {
      let detail = JSONNode(answer.body)?["detail"]?.string
      StandardError.write("\(detail ?? "\(relay) answers with status \(answer.status).")\n")
      throw ExitCode.configuration
    }
    if json {
      StandardOutput.write(answer.body + [UInt8(ascii: "\n")])
    } else {
      StandardOutput.write("\(TraceTable(trace))")
    }
  }
}
