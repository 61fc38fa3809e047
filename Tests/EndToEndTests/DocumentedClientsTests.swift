import Glibc
import TestSupport
import Testing

extension `End to end` {
  /// The clients of docs/clients, beside a relay that is killed and behind a proxy that counts, holds
  /// and answers: `clients.py` has the cases.
  @Suite struct `The documented clients` {
    @Test(arguments: DocumentedClient.allCases)
    func `agree with the log after kills of the relay and of their own`(
      client: DocumentedClient
    ) throws { try client.play("chaos") }

    @Test(arguments: DocumentedClient.allCases)
    func `send 200 lines that were written offline once each`(client: DocumentedClient) throws {
      try client.play("offline")
    }

    @Test(arguments: DocumentedClient.allCases)
    func `do not count a line as sent because another member uses its id`(
      client: DocumentedClient
    ) throws { try client.play("guessed") }

    @Test(arguments: DocumentedClient.allCases)
    func `give a line up when it is refused, unless the error says when to retry`(
      client: DocumentedClient
    ) throws { try client.play("refused") }

    @Test(arguments: DocumentedClient.allCases)
    func `join 256 rooms again without an error`(client: DocumentedClient) throws {
      try client.play("rooms")
    }

    @Test(arguments: DocumentedClient.allCases)
    func `have what the log has after every outcome of resume`(client: DocumentedClient) throws {
      try client.play("resume")
    }

    @Test(arguments: DocumentedClient.allCases)
    func `come back after a close unless its code forbids that`(client: DocumentedClient) throws {
      try client.play("codes")
    }

    @Test(arguments: DocumentedClient.allCases)
    func `stay short`(client: DocumentedClient) throws {
      let code = try readFile(Project[client.library]).split(separator: "\n").filter { line in
        let text = line.drop { $0 == " " || $0 == "\t" }
        return !text.isEmpty && !["//", "#", "\"\"\""].contains { text.hasPrefix($0) }
      }
      #expect(code.count > 80)
      #expect(code.count <= client.lineLimit, "lines of code")
    }
  }

  @Suite struct `Measured: the documented clients` {
    @Test(arguments: DocumentedClient.allCases)
    func `agree with the log after 30 kills of the relay and several of their own`(
      client: DocumentedClient
    ) throws { try client.play("chaos30") }

    @Test(arguments: DocumentedClient.allCases)
    func `join 256 rooms again within a second`(client: DocumentedClient) throws {
      #expect(try #require(Double(client.play("rooms"))) < 1000, "milliseconds")
    }
  }
}

/// A client in a folder of docs/clients.
enum DocumentedClient: String, CaseIterable, CustomTestStringConvertible {
  case python, node, go, browser

  var testDescription: String { rawValue }

  /// The file that connects, resumes, keeps the outbox and folds.
  var library: String {
    let suffix =
      switch self {
      case .python: "py"
      case .node, .browser: "js"
      case .go: "go"
      }
    return "docs/clients/\(rawValue)/client.\(suffix)"
  }

  /// The maximum number of its lines, without comments and blank lines.
  var lineLimit: Int {
    switch self {
    case .python, .node: 150
    case .browser: 165
    case .go: 330
    }
  }

  private func command() throws -> [String] {
    switch self {
    case .python: ["/usr/bin/python3", Project["docs/clients/python/chat.py"]]
    case .node: ["/usr/bin/node", Project["docs/clients/node/chat.js"]]
    case .go: [try Self.builtProgram.get()]
    case .browser: ["/usr/bin/python3", Programs.peer("browser_client.py")]
    }
  }

  /// The program in Go, built with Debian's packages.
  private static let builtProgram = Result {
    let program = Project[".build/clients/chat"]
    let build = try ChildProcess(
      ["sh", "-ec", "cd \"$0\" && exec go build -o \"$1\" .", Project["docs/clients/go"], program],
      environment: [
        "GO111MODULE=off", "GOFLAGS=", "GOPATH=/usr/share/gocode",
        "GOCACHE=\(Project[".build/clients/go"])",
      ], input: "")
    let outcome = try build.wait(Deadline(seconds: 300))
    guard outcome == .exit(0) else { throw Unexpected("go build: \(outcome): \(build.errors)") }
    return program
  }

  /// Runs a case of `clients.py`.
  /// - Returns: what it measured, if it measures.
  @discardableResult
  func play(_ name: String) throws -> String {
    let peer = try ChildProcess(
      ["/usr/bin/python3", "-B", Programs.peer("clients.py"), name, Programs.relay]
        + (try command()), environment: ["NODE_PATH=/usr/share/nodejs"], input: "")
    let outcome = try peer.wait(Deadline(seconds: 300))
    guard outcome == .exit(0), let word = peer.output.firstRange(of: "good") else {
      throw Unexpected("\(outcome): \(peer.errors)")
    }
    return String(peer.output[word.upperBound...].dropFirst(2).dropLast())
  }
}
