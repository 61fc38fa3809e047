import ArgumentParser
import Directories
import Platform
import Relay
internal import Wire

/// The subcommand `connections`: lists who is connected, or ends a connection.
struct Connections: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List who is connected, or end a connection.",
    discussion: """
      Asks the running relay, by the socket operator.sock in its data folder; or by --url with the token \
      in admin.token, or that of a user in auth.operators. Lists the 200 connections with most bytes queued: \
      name, user, transport, address, rooms, and bytes queued. The client of a connection that was ended \
      comes back only when its user signs in again; relay ban keeps the user out.
      """)

  @Option(parsing: .unconditional, help: ArgumentHelp("Only those of a user.", valueName: "u"))
  var user: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("End a connection, by the name that the list has.", valueName: "name"))
  var end: String?

  @OptionGroup var relay: RelayQuery

  func validate() throws {
    guard user == nil || end == nil else {
      throw ValidationError("--user and --end cannot be combined.")
    }
  }

  func run() throws {
    let relay = try relay.target()
    if let end {
      _ = try relay.ask("/v1/connections/\(WebAddress.escaped(end))", method: "DELETE")
      return
    }
    let query = user.map { "?of=\(WebAddress.escaped($0))" } ?? ""
    let list = JSONNode(try relay.ask("/v1/connections\(query)"))
    for one in list?["connections"]?.elements ?? [] {
      StandardOutput.write("\(Self.line(one))\n")
    }
  }

  /// `q3Xe81_2abc.4.1  ada  websocket  192.0.2.7  3 rooms  0 bytes queued`
  private static func line(_ one: JSONNode) -> String {
    [
      one["connection"]?.string ?? "–", one["user"]?.string ?? "?", one["transport"]?.string ?? "?",
      one["address"]?.string ?? "this machine", (one["rooms"]?.integer ?? 0).counted("room"),
      "\((one["queued_bytes"]?.integer ?? 0).counted("byte")) queued",
    ].joined(separator: "\t")
  }
}

extension RelayQuery.Target {
  /// Lets the relay answer a request; prints why it does not, and exits, if so.
  func ask(_ path: String, method: String? = nil) throws -> [UInt8] {
    let answer: (status: Int, body: [UInt8])
    do throws(OperatorRequest.Failure) { answer = try get(path, method: method) } catch {
      StandardError.write("\(error)\n")
      throw ExitCode.configuration
    }
    guard (200..<300).contains(answer.status) else {
      let detail = JSONNode(answer.body)?["detail"]?.string
      StandardError.write("\(detail ?? "\(name) answers with status \(answer.status).")\n")
      throw ExitCode.configuration
    }
    return answer.body
  }
}
