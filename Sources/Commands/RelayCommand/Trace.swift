import ArgumentParser
import Directories
import Platform
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

  @Option(parsing: .unconditional, help: "The room.")
  var room: String?

  @Option(
    parsing: .unconditional,
    help: "The id of the entry; the last one, if several users have sent it.")
  var id: String?

  @Option(help: ArgumentHelp("The number of the entry.", valueName: "n"))
  var seq: Int64?

  @Option(
    name: .customLong("trace-id"),
    help: ArgumentHelp(
      "The last entry of a trace: that of an exemplar in the metrics, or of the sender's own (traceparent).",
      valueName: "hex"))
  var traceID: String?

  @Flag(help: "Print the relay's answer, which is JSON.")
  var json = false

  @OptionGroup var relay: RelayQuery

  func validate() throws {
    if let traceID {
      guard room == nil, id == nil, seq == nil else {
        throw ValidationError("--trace-id cannot be combined with --room, --id and --seq.")
      }
      guard TraceID(traceID) != nil else {
        throw ValidationError("--trace-id must be 32 hexadecimal digits in lower case, not all 0.")
      }
      return
    }
    guard room != nil else { throw ValidationError("--room or --trace-id is required.") }
    guard (id == nil) != (seq == nil) else {
      throw ValidationError("Exactly one of --id and --seq is required.")
    }
    if let seq, seq < 1 { throw ValidationError("--seq must be at least 1.") }
  }

  private var path: String {
    if let traceID { return "/v1/traces/\(traceID)" }
    let entry = id.map { "\(WebAddress.escaped($0))/trace?by=id" } ?? "\(seq ?? 0)/trace"
    return "/v1/rooms/\(WebAddress.escaped(room ?? ""))/messages/\(entry)"
  }

  func run() throws {
    let relay = try relay.target()
    let answer = try relay.ask(path)
    if json {
      StandardOutput.write(answer + [UInt8(ascii: "\n")])
    } else if let trace = JSONNode(answer) {
      StandardOutput.write("\(TraceTable(trace))")
    }
  }
}
