internal import Glibc

/// A server that the benchmark starts: the relay, the floor, or a peer.
struct BenchProgram: Sendable {
  /// What tables call it.
  var name: String
  /// The program and its arguments; `{folder}` stands for a folder of its own, `{port}` for a free
  /// port that was chosen for it.
  var words: [String]
  /// Added to the environment, `NAME=value`.
  var environment: [String] = []
  /// Written to the folder beforehand, by name; with `{port}` as above.
  var files: [(name: String, text: String)] = []
  /// The end of the line in which it says its port follows this; `nil`: it was told which.
  var announcement: String? = "listening on ws://127.0.0.1:"
  /// Whether other processes do part of its work.
  var hasChildren = false
  /// How rooms are spoken to, and where.
  var dialect: RawDialect
  var path: String
  /// Where every message comes back, if there is such a place.
  var echoPath: String?
  /// Of the texts that are published.
  var textBytes: Int

  /// Whether the program is there.
  var isPresent: Bool { unsafe access(words[0], X_OK) == 0 }
}

extension BenchProgram {
  /// Where things are.
  struct Places: Sendable {
    /// Of `relay` and what lies beside it.
    var commands: String
    /// Of what `make bench` has built besides: the floor, centrifuge.
    var built: String
    /// `LoadTests/peers`.
    var peers: String
  }

  /// What is said in the relay's rooms. Its deliveries are longer by what it tells of them; the texts
  /// of others are made so long that theirs have as many bytes.
  static let relayTextBytes = 128

  /// The limits that a load from one address, at full speed, would meet are off; the promises are
  /// not: what it acknowledges and shows is synced.
  static func relay(_ places: Places, loops: Int = 1, echo: Bool = false) -> BenchProgram {
    let configuration = """
      loops: \(loops)
      log_level: warning
      log: { durability: fsync }
      limits:
        connections: 0
        connections_per_address: 0
        unauthenticated_per_address: 0
        connections_per_user: 0
        sends_per_s: 0
        requests_per_s: 0
        bytes_per_s: 0
      \(echo ? "debug: { echo: true }" : "")

      """
    var program = BenchProgram(
      name: "relay",
      words: [
        "\(places.commands)/relay", "serve", "--config", "{folder}/relay.yaml", "--listen",
        "127.0.0.1:0", "--data", "{folder}/data",
      ],
      files: [("relay.yaml", configuration)], dialect: .relay, path: "/ws",
      textBytes: relayTextBytes)
    program.echoPath = echo ? "/echo" : nil
    return program
  }

  /// What no server can be spared.
  ///
  /// - Parameter deliveryBytes: of the frame in which a message comes.
  static func floor(_ places: Places, deliveryBytes: Int) -> BenchProgram {
    BenchProgram(
      name: "floor", words: ["\(places.built)/floor"], dialect: .plain, path: "/",
      echoPath: "/echo", textBytes: deliveryBytes - frameHeaderBytes)
  }

  /// Whoever does the same work.
  static func peers(_ places: Places, deliveryBytes: Int) -> [BenchProgram] {
    [centrifuge, nats, nchan, node].map { $0(places, deliveryBytes - frameHeaderBytes) }
  }

  /// RFC 6455 §5.2, of 126 bytes to 64 KiB.
  private static let frameHeaderBytes = 4

  private static func centrifuge(_ places: Places, bytes: Int) -> BenchProgram {
    var dialect = RawDialect(
      name: "centrifuge",
      publish: #"{"id":3,"method":3,"params":{"channel":"{room}","data":{"t":"{text}"}}}"#)
    dialect.prelude = [
      .send(#"{"id":1}"#), .await(#""id":1"#),
      .send(#"{"id":2,"method":1,"params":{"channel":"{room}"}}"#), .await(#""id":2"#),
    ]
    // It puts several messages in one frame, one a line.
    dialect.counting = .marks
    return BenchProgram(
      name: "centrifuge", words: ["\(places.built)/centrifuge"], dialect: dialect, path: "/ws",
      // {"result":{"channel":"b1-0","data":{"data":{"t":""}}}}
      textBytes: bytes - 54)
  }

  private static func nats(_ places: Places, bytes: Int) -> BenchProgram {
    // MSG b1-0 1 200, and two ends of lines.
    let textBytes = bytes - 19
    var dialect = RawDialect(name: "nats", publish: "PUB {room} \(textBytes)\r\n{text}\r\n")
    dialect.isBinary = true
    dialect.prelude = [
      .await("INFO"),
      .send(#"CONNECT {"verbose":false,"pedantic":false,"echo":true}"# + "\r\n"),
      .send("SUB {room} 1\r\nPING\r\n"), .await("PONG"),
    ]
    // A stream: frames and messages begin and end where they like.
    dialect.counting = .marks
    return BenchProgram(
      name: "nats", words: ["/usr/sbin/nats-server", "-c", "\(places.peers)/nats.conf"],
      announcement: "Listening for websocket clients on ws://127.0.0.1:", dialect: dialect,
      path: "/", textBytes: textBytes)
  }

  private static func nchan(_ places: Places, bytes: Int) -> BenchProgram {
    let text = (try? TextFile.read("\(places.peers)/nchan.conf")) ?? []
    var program = BenchProgram(
      name: "nchan", words: ["/usr/sbin/nginx", "-p", "{folder}", "-c", "nchan.conf"],
      files: [("nchan.conf", String(decoding: text, as: UTF8.self))], announcement: nil,
      hasChildren: true, dialect: .plain, path: "/", textBytes: bytes)
    program.dialect.name = "nchan"
    // What it answers to whoever publishes.
    program.dialect.otherPrefixes = ["queued messages", "{\"messages\""]
    return program
  }

  private static func node(_ places: Places, bytes: Int) -> BenchProgram {
    var program = BenchProgram(
      name: "node", words: ["/usr/bin/node", "\(places.peers)/node-ws.js"],
      environment: ["NODE_PATH=/usr/share/nodejs"], dialect: .plain, path: "/", echoPath: "/echo",
      textBytes: bytes)
    program.dialect.name = "node"
    return program
  }
}
