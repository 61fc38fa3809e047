internal import Glibc

/// A server that the benchmark starts: the relay, the floor, or a peer.
struct BenchProgram: Sendable {
  /// The name in tables.
  var name: String
  /// The program and its arguments; `{folder}` stands for its own folder, `{port}` for a free port.
  var words: [String]
  /// Added to the environment, `NAME=value`.
  var environment: [String] = []
  /// Files written to the folder before the start, by name; `{port}` is replaced in them.
  var files: [(name: String, text: String)] = []
  /// The text before the port in the line that announces it; `nil`: the port was an argument.
  var announcement: String? = "listening on ws://127.0.0.1:"
  /// Its certificate, which vouches for itself; `nil` = without TLS.
  var certificate: OwnCertificate?
  /// Whether other processes do part of its work.
  var hasChildren = false
  /// The dialect and the path of its rooms.
  var dialect: RawDialect
  var path: String
  /// The path that echoes every message, if there is one.
  var echoPath: String?
  /// The size of the published texts.
  var textBytes: Int

  /// Whether the program exists.
  var isPresent: Bool { unsafe access(words[0], X_OK) == 0 }
}

extension BenchProgram {
  /// The folders of the programs.
  struct Places: Sendable {
    /// The folder of `relay` and the programs built with it.
    var commands: String
    /// The folder of the other results of `make bench`: the floor, centrifuge.
    var built: String
    /// `LoadTests/peers`.
    var peers: String
    /// The folder of uWebSockets; empty if there is none.
    var uWebSockets = ""

    var library: LibraryServer {
      LibraryServer(library: uWebSockets, source: "\(peers)/uwebsockets.cpp", built: built)
    }
  }

  /// The size of texts in the relay's rooms. Its deliveries are larger because of their metadata;
  /// the texts for other servers are lengthened until their deliveries have the same size.
  static let relayTextBytes = 128

  /// Limits that a full-speed load from one address would reach are disabled. Guarantees are not:
  /// what the relay acknowledges and delivers is synced.
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

  /// The minimum work of any server.
  ///
  /// - Parameter deliveryBytes: The size of the frame of a delivery.
  static func floor(_ places: Places, deliveryBytes: Int) -> BenchProgram {
    BenchProgram(
      name: "floor", words: ["\(places.built)/floor"], dialect: .plain, path: "/",
      echoPath: "/echo", textBytes: deliveryBytes - frameHeaderBytes)
  }

  /// The library that is measured in turn with floor and relay; it also echoes.
  static func library(_ places: Places, deliveryBytes: Int) -> BenchProgram {
    var program = BenchProgram(
      name: BenchRow.libraryName, words: [places.library.program], dialect: .plain, path: "/",
      echoPath: "/echo", textBytes: deliveryBytes - frameHeaderBytes)
    program.dialect.name = BenchRow.libraryName
    return program
  }

  /// Other servers that do the same work.
  static func peers(_ places: Places, deliveryBytes: Int) -> [BenchProgram] {
    [centrifuge, nats, nchan, node].map { $0(places, deliveryBytes - frameHeaderBytes) }
  }

  /// RFC 6455 §5.2, for payloads of 126 bytes to 64 KiB.
  private static let frameHeaderBytes = 4

  /// The same program with TLS, of those that are compared with it.
  func secured(by certificate: OwnCertificate) -> BenchProgram {
    var program = self
    program.certificate = certificate
    program.announcement = announcement?.replacing("ws://", with: "wss://")
    if name == BenchRow.libraryName {
      program.words += [certificate.path, certificate.keyPath]
    } else {
      program.files[0].text += """
        tls: { certificate: \(certificate.path), key: \(certificate.keyPath) }

        """
    }
    return program
  }

  private static func centrifuge(_ places: Places, bytes: Int) -> BenchProgram {
    var dialect = RawDialect(
      name: "centrifuge",
      publish: #"{"id":3,"method":3,"params":{"channel":"{room}","data":{"t":"{text}"}}}"#)
    dialect.prelude = [
      .send(#"{"id":1}"#), .await(#""id":1"#),
      .send(#"{"id":2,"method":1,"params":{"channel":"{room}"}}"#), .await(#""id":2"#),
    ]
    // It puts several messages in one frame, one per line.
    dialect.counting = .marks
    return BenchProgram(
      name: "centrifuge", words: ["\(places.built)/centrifuge"], dialect: dialect, path: "/ws",
      // {"result":{"channel":"b1-0","data":{"data":{"t":""}}}}
      textBytes: bytes - 54)
  }

  private static func nats(_ places: Places, bytes: Int) -> BenchProgram {
    // MSG b1-0 1 200, and two line breaks.
    let textBytes = bytes - 19
    var dialect = RawDialect(name: "nats", publish: "PUB {room} \(textBytes)\r\n{text}\r\n")
    dialect.isBinary = true
    dialect.prelude = [
      .await("INFO"),
      .send(#"CONNECT {"verbose":false,"pedantic":false,"echo":true}"# + "\r\n"),
      .send("SUB {room} 1\r\nPING\r\n"), .await("PONG"),
    ]
    // It is a byte stream: messages and frames are not aligned.
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
    // Its answers to a publisher.
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
