import Logging
import Platform
import Relay
import RelayConfiguration
import TestSupport

@testable import Server

/// Plays an example against a relay of its own, and compares every message with the example.
struct TranscriptPlayer {
  /// Fields that differ from run to run, and prose: they must exist, and be of the same kind.
  static let varying: Set<String> = [
    "at", "edited_at", "epoch", "expires_in_ms", "last_seen", "message", "reconnect_after_ms",
    "retry_after_ms",
    "server", "session", "time",
  ]
  /// Fields that an example may leave out if it is not about them.
  static let omissible: Set<String> = ["lineage"]
  /// Messages that may come earlier than shown: acknowledgements have no order, and the others do
  /// not wait for entries.
  static let early: Set<String> = ["ack", "activity", "receipt", "subscribers", "typing"]

  private let transcript: Transcript
  private let address: Address
  private var peers: [String: Peer] = [:]
  private var closed: Set<String> = []
  /// The epoch in the article, and the relay's epoch.
  private var epochs: [String: String] = [:]

  static func play(_ transcript: Transcript) throws {
    if let unreadable = transcript.unreadable { throw unreadable }
    let secret = transcript.tokens.isEmpty ? "" : SignedToken.secret
    try withServer(keepEntriesPerRoom: transcript.keepEntriesPerRoom, secret: secret) { server in
      var player = TranscriptPlayer(transcript, server.address)
      try player.play()
    }
  }

  private init(_ transcript: Transcript, _ address: Address) {
    self.transcript = transcript
    self.address = address
  }

  private mutating func play() throws {
    var lines = transcript.lines[...]
    while let line = lines.first {
      if case .send(let json) = line.step {
        lines.removeFirst()
        try peer(line.user, before: line).send(try signed(translated(json)))
      } else {
        // Between two sends each user gets the shown messages; the order of the users is free.
        let run = lines.prefix { if case .send = $0.step { false } else { true } }
        lines = lines.dropFirst(run.count)
        var users: [String] = []
        for line in run where !users.contains(line.user) { users.append(line.user) }
        for user in users { try receive(run.filter { $0.user == user }) }
      }
    }
    for user in peers.keys.sorted() where !closed.contains(user) { try expectNothingElse(user) }
  }

  private mutating func peer(_ user: String, before line: Transcript.Line) throws -> Peer {
    if let peer = peers[user] { return peer }
    let peer = try Peer(address, transcript.targets[user] ?? "/ws?user=\(user)")
    peers[user] = peer
    if case .receive(let shown) = line.step, shown["type"] == .string("welcome") { return peer }
    if transcript.targets[user] == nil {
      guard case .text(let text) = try peer.receive(), try JSON(text)["type"] == .string("welcome")
      else { throw Unexpected("\(line.place): no welcome came before it") }
    }
    return peer
  }

  private mutating func receive(_ lines: [Transcript.Line]) throws {
    var expected = lines
    let peer = try peer(lines[0].user, before: lines[0])
    while let first = expected.first {
      let received: Peer.Received
      do {
        received = try peer.receive()
      } catch {
        throw Unexpected("\(first.place): \(error)")
      }
      switch received {
      case .close(let code):
        guard case .close(code) = first.step else {
          throw Unexpected("\(first.place): close \(code) came instead")
        }
        closed.insert(first.user)
        expected.removeFirst()
      case .text(let text):
        let message = try JSON(text)
        let place = expected.firstIndex { line in
          guard case .receive(let shown) = line.step else { return false }
          return matches(shown, message)
        }
        let inOrder = expected.firstIndex { !isEarly($0) } ?? expected.endIndex
        guard let place, place <= inOrder || isEarly(expected[place]) else {
          throw Unexpected("\(first.place): \(text) came instead")
        }
        if case .receive(let shown) = expected[place].step { recordEpoch(shown, message) }
        expected.remove(at: place)
      }
    }
  }

  private func isEarly(_ line: Transcript.Line) -> Bool {
    guard case .receive(let shown) = line.step else { return false }
    return Self.early.contains(shown["type"]?.text ?? "")
  }

  /// Whether a message came that the article does not show: the answer to a ping must be next.
  private func expectNothingElse(_ user: String) throws {
    try peers[user]?.send(#"{"type":"ping","t":"the end"}"#)
    guard case .text(let text)? = try peers[user]?.receive(),
      try JSON(text)["t"] == .string("the end")
    else {
      throw Unexpected("\(transcript.place): more came to \(user) than is shown")
    }
  }

  // MARK: - Comparing

  private func matches(_ shown: JSON, _ received: JSON) -> Bool {
    switch (shown, received) {
    case (.object(let shown), .object(let received)):
      Set(received.keys).subtracting(shown.keys).isSubset(of: Self.omissible)
        && shown.allSatisfy { name, value in
          guard let other = received[name] else { return false }
          return Self.varying.contains(name) ? value.kind == other.kind : matches(value, other)
        }
    case (.array(let shown), .array(let received)):
      shown.count == received.count && zip(shown, received).allSatisfy(matches)
    default: shown == received
    }
  }

  private mutating func recordEpoch(_ shown: JSON, _ received: JSON) {
    if let name = shown["epoch"]?.text, let epoch = received["epoch"]?.text { epochs[name] = epoch }
  }

  /// The message with the relay's own epochs in place of those in the article.
  private func translated(_ json: String) -> String {
    var json = json
    for (name, epoch) in epochs {
      if let range = json.firstRange(of: "\"\(name)\"") {
        json.replaceSubrange(range, with: "\"\(epoch)\"")
      }
    }
    return json
  }

  /// The message with whole tokens in place of abbreviated ones.
  private func signed(_ json: String) throws -> String {
    var json = json
    for (shown, claims) in transcript.tokens {
      if let range = json.firstRange(of: "\"\(shown)\"") {
        json.replaceSubrange(range, with: "\"\(try SignedToken.make(claims))\"")
      }
    }
    return json
  }
}

/// Runs a relay in this process, on a free port, with a folder of its own.
/// - Parameters:
///   - secret: for tokens, if it accepts any.
///   - log: a log other than the one that it would open itself.
func withServer<Result>(
  keepEntriesPerRoom: Int = 0, echo: Bool = false, secret: String = "", log: (any Log)? = nil,
  configure: (inout Configuration) -> Void = { _ in }, _ body: (Server) throws -> Result
) throws -> Result {
  let folder = try TemporaryFolder()
  var configuration = Configuration()
  configuration.listen = "127.0.0.1:0"
  configuration.dataFolder = folder["data"]
  configuration.loops = 1
  configuration.log.durability = .memory
  configuration.log.keepEntriesPerRoom = keepEntriesPerRoom
  configuration.debug.echo = echo
  configuration.auth.mode = secret.isEmpty ? .open : .jwt
  configuration.auth.secret = secret
  configure(&configuration)
  let logger = Logger(label: "relay") { _ in SwiftLogNoOpLogHandler() }
  let server =
    if let log {
      try Server(configuration, logger: logger) { _, _ in log }
    } else {
      try Server(configuration, logger: logger)
    }
  defer {
    server.shutDown()
    server.closeStore()
    server.waitUntilStopped()
    withExtendedLifetime(folder) {}
  }
  return try body(server)
}
