import TestSupport
import Testing
import WebSocket
import Wire

extension `End to end` {
  /// Each with a sentence that says what, which value, and what to do.
  @Suite struct `Bad input` {
    // MARK: To the command

    private func serve(_ configuration: String, _ more: [String] = []) throws -> ChildProcess {
      let folder = try TemporaryFolder()
      try folder.write(configuration, to: "relay.yaml")
      let process = try ChildProcess(
        [Programs.relay, "serve", "--config", folder["relay.yaml"], "--listen", "127.0.0.1:0"]
          + more, input: "")
      try process.wait()
      #expect(!process.errors.contains("listening"))
      return process
    }

    @Test func `an unknown configuration key is named, with its line and the nearest one`() throws {
      let process = try serve("log_level: info\nlimits:\n  sends_per_sec: 5\n")
      #expect(try process.wait() == .exit(1))
      #expect(process.errors.contains("limits.sends_per_sec"))
      #expect(
        process.errors.contains("limits.sends_per_s\"")
          || process.errors.contains("limits.sends_per_s?"))
      #expect(process.errors.contains("3"))
    }

    @Test func `a configuration that is missing or not YAML ends with 1`() throws {
      let missing = try RelayProcess.command("serve", "--config", "/nonexistent.yaml")
      #expect(try missing.wait() == .exit(1))
      #expect(missing.errors.contains("/nonexistent.yaml"))
      let torn = try serve("limits: {")
      #expect(try torn.wait() == .exit(1))
      #expect(torn.errors.contains("relay.yaml"))
      let checked = try RelayProcess.command("check-config", "--config", "/nonexistent.yaml")
      #expect(try checked.wait() == .exit(1))
    }

    @Test func `wrong usage ends with 2`() throws {
      for arguments in [["serve", "--port", "1"], ["sever"], ["serve", "--config"]] {
        let process = try ChildProcess([Programs.relay] + arguments, input: "")
        #expect(try process.wait() == .exit(2), "\(arguments)")
        #expect(!process.errors.isEmpty)
      }
    }

    @Test func `a data folder that cannot be written ends with 1`() throws {
      // Root may write in any directory; below a file no user can.
      let folder = try TemporaryFolder()
      try folder.write("", to: "file")
      let process = try serve("data: \(folder["file"])/data\n")
      #expect(try process.wait() == .exit(1))
      #expect(
        process.errors.contains("The data folder \(folder["file"])/data cannot be created"))
      let file = try serve("data: \(folder["file"])\n")
      #expect(try file.wait() == .exit(1))
      #expect(file.errors.contains("is not a folder"))
    }

    @Test func `a read-only file system ends with 1`() throws {
      // Even root cannot write here.
      let process = try serve("data: /proc/relay\n")
      #expect(try process.wait() == .exit(1))
      #expect(process.errors.contains("/proc/relay"))
    }

    @Test func `a database file that is none ends with 3, and stays as it is`() throws {
      let folder = try TemporaryFolder()
      let garbage = String(repeating: "This is no database. ", count: 500)
      try folder.write(garbage, to: "data/relay.db")
      let process = try serve("data: \(folder["data"])\n")
      #expect(try process.wait() == .exit(3))
      #expect(process.errors.contains("\(folder["data"])/relay.db"))
      #expect(process.errors.contains("is not a database"))
      #expect(try readFile(folder["data/relay.db"]) == garbage)
      let verify = try RelayProcess.command("verify", "--data", folder["data"])
      #expect(try verify.wait() == .exit(3))
    }

    @Test
    func
      `a store whose entries are missing ends with 3, and begins anew where its rest is moved away`()
      throws
    {
      let relay = try RelayProcess()
      #expect(try relay.stop() == .exit(0))
      try run("rm", "\(relay.dataFolder)/relay.db")
      try relay.start(waiting: false)
      #expect(try relay.process.wait() == .exit(3))
      #expect(
        relay.process.errors.contains(
          "relay.db, which has the messages, is missing, but the folder has index.db"))
      try run("rm", "\(relay.dataFolder)/index.db")
      try relay.start()
      #expect(try relay.stop() == .exit(0))
    }

    @Test(.enabled(if: SmallDisk.isPossible, "mounting a file system takes root"))
    func
      `a store on a read-only file system is verified and exported, or the error says what to do`()
      throws
    {
      let relay = try RelayProcess()
      try RawClient(relay, user: "ada").say("kept", in: "general", id: "1")
      func onReadOnly(_ command: String) throws -> ChildProcess {
        let process = try ChildProcess(
          OwnMounts.command + [
            "sh", "-ec",
            "mount --bind $1 $1; mount -o remount,ro,bind $1; exec $2 $3 --data $1", "sh",
            relay.dataFolder, Programs.relay, command,
          ], input: "")
        try process.wait()
        return process
      }
      let beside = try onReadOnly("verify")
      #expect(try beside.wait() == .exit(0), "\(beside.output)\(beside.errors)")
      try relay.kill()
      // Its write-ahead log has what is not in relay.db yet.
      try run("rm", "\(relay.dataFolder)/relay.db-shm")
      let killed = try onReadOnly("verify")
      #expect(try killed.wait() == .exit(1))
      #expect(killed.errors.contains("copy the folder to another one"), "\(killed.errors)")
      let yaml = try relay.folder.read("relay.yaml")
      try relay.folder.write(
        yaml + "auth: { mode: accounts, public_url: \"https://chat.example.org\" }\n",
        to: "relay.yaml")
      try relay.start()
      #expect(try relay.stop() == .exit(0))
      for (command, output) in [("verify", "1 room, 1 entry"), ("export", "\"kept\"")] {
        let stopped = try onReadOnly(command)
        #expect(try stopped.wait() == .exit(0), "\(stopped.errors)")
        #expect(stopped.output.contains(output), "\(stopped.output)")
      }
    }

    // MARK: To the relay, in messages

    @Test func `a meaningless message is answered with an error, and the next one is served`()
      throws
    {
      let relay = try RelayProcess("limits: { text_bytes: 100 }")
      let ada = try RawClient(relay, user: "ada")
      let long = String(repeating: "x", count: 101)
      for (json, code, field) in [
        ("{", .badJSON, nil),
        ("[]", .badJSON, nil),
        (#"{"type":"send","room":"a","id":"1","text":"\q"}"#, .badJSON, nil),
        (#"{"room":"a"}"#, .badField, "type"),
        (#"{"type":"persons"}"#, .unknownType, nil),
        (#"{"type":"join","room":"a/b"}"#, .badField, "room"),
        (#"{"type":"join","room":"dm:bo:ada"}"#, .badField, "room"),
        (#"{"type":"join","room":"dm:bo:cy"}"#, .forbidden, nil),
        (#"{"type":"send","room":"a","id":"1","text":"\#(long)"}"#, .tooLarge, "text"),
        (#"{"type":"send","room":"a","id":"1","text":"  "}"#, .badField, "text"),
        (#"{"type":"send","room":"a","id":"","text":"x"}"#, .badField, "id"),
        (#"{"type":"read","room":"a","seq":1}"#, .notJoined, nil),
        (#"{"type":"history","room":"a","limit":501}"#, .badField, "limit"),
      ] as [(String, ErrorCode, String?)] {
        try ada.send(json)
        let error = try ada.error()
        #expect(error.code == code, "\(json): \(error)")
        if let field { #expect(error.field == field, "\(json): \(error)") }
        #expect(error.message.count > 10, "\(json)")
      }
      try ada.send(#"{"type":"join","room":"a/b"}"#)
      #expect(try ada.error().message.contains("a-z 0-9"))
      #expect(try ada.say("still here", in: "a", id: "1").seq == 1)
    }

    @Test func `a room that may not be created and a room beyond the limit are refused`() throws {
      let relay = try RelayProcess(
        """
        rooms: { create: listed, listed: [{ room: a, title: A }, { room: b, title: B }] }
        limits: { rooms_per_connection: 2 }
        """)
      let ada = try RawClient(relay, user: "ada")
      for json in [
        #"{"type":"join","room":"c"}"#, #"{"type":"send","room":"c","id":"1","text":"hi"}"#,
        #"{"type":"history","room":"c"}"#,
      ] {
        try ada.send(json)
        #expect(try ada.error().code == .noSuchRoom, "\(json)")
      }
      _ = try ada.join("a")
      _ = try ada.join("dm:ada:bo")
      try ada.send(#"{"type":"join","room":"b"}"#)
      #expect(try ada.error().code == .tooManyRooms)
      try ada.send(#"{"type":"leave","room":"a"}"#)
      #expect(try ada.join("b").head == 0)
    }

    @Test func `input that is not a message at all closes with its code`() throws {
      let relay = try RelayProcess()
      for (opcode, payload, code) in [
        (.binary, [1, 2, 3], 1003),
        (.text, [0xC3, 0x28], 1007),
        (.text, [UInt8](repeating: 0x20, count: 65_537), 1009),
      ] as [(Opcode, [UInt8], UInt16)] {
        let ada = try RawClient(relay, user: "ada")
        try ada.send(opcode, payload)
        let end = try ada.untilClosed()
        #expect(end.code == code)
        #expect(!end.reason.isEmpty)
      }
      // A frame that is not masked; a reserved opcode.
      for bytes in [[0x81, 0x01, 0x7B], [0x83, 0x80, 0, 0, 0, 0]] as [[UInt8]] {
        let ada = try RawClient(relay, user: "ada")
        try ada.send(raw: bytes)
        #expect(try ada.untilClosed().code == 1002)
      }
    }

    @Test func `a client that does not authenticate is closed with 4408`() throws {
      let relay = try RelayProcess("limits: { handshake_timeout_ms: 300 }")
      let nobody = try RawClient(relay, user: nil)
      #expect(try nobody.untilClosed().code == 4408)
      // Nor does the relay wait for a client that does not finish the request.
      let silent = try HTTPExchange(relay, "GET /ws HTTP/1.1\r\n")
      #expect(try silent.answer() == "")
    }

    @Test func `bad tokens and names are closed with 4401`() throws {
      let relay = try RelayProcess(`wschat, in lines`.echo)
      for target in ["/ws?token=abc", "/ws?user=Ada", "/ws?user=echo", "/ws?user=a%2Fb"] {
        let client = try RawClient(relay, user: nil, target: target)
        let end = try client.untilClosed()
        #expect(end.code == 4401, "\(target)")
        guard case .error(let error)? = end.messages.first else {
          Issue.record("\(target): \(end.messages)")
          continue
        }
        #expect(error.code == .unauthorized)
      }
      let bearer = try RawClient(
        relay, user: "ada", headers: [("Authorization", "Bearer abc")])
      #expect(try bearer.untilClosed().code == 4401)
      let auth = try RawClient(relay, user: nil)
      try auth.send(#"{"type":"auth","token":"abc"}"#)
      #expect(try auth.untilClosed().code == 4401)
    }

    // MARK: To the relay, in HTTP

    @Test func `a request that is no WebSocket gets a status that says why`() throws {
      let relay = try RelayProcess()
      let host = "Host: 127.0.0.1:\(relay.port)\r\n"
      let upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\n"
      let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
      let version = "Sec-WebSocket-Version: 13\r\n"
      let get = "GET /ws?user=ada HTTP/1.1\r\n"
      for (request, status) in [
        (get + host + upgrade + key + version, 101),
        (get + host, 426),
        (get + upgrade + key + version, 400),
        (get + host + upgrade + version, 400),
        (get + host + upgrade + key + "Sec-WebSocket-Version: 8\r\n", 426),
        (get + host + upgrade + key + version + "Sec-WebSocket-Protocol: mqtt\r\n", 400),
        (get + host + upgrade + key + version + "Origin: http://evil.example\r\n", 403),
        (get + host + upgrade + key + version + "Origin: http://127.0.0.1:\(relay.port)\r\n", 101),
        (
          "GET /ws HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n" + upgrade
            + key + version, 403
        ),
        ("POST /ws HTTP/1.1\r\n" + host + upgrade + key + version, 405),
        ("GET /healthz HTTP/1.1\r\n" + host, 200),
        ("GET /nothing HTTP/1.1\r\n" + host, 404),
        ("nonsense\r\n", 400),
        (get + host + "X: " + String(repeating: "x", count: 9000) + "\r\n", 431),
      ] {
        let exchange = try HTTPExchange(relay, request + "\r\n")
        if status == 101 {
          #expect(try exchange.firstLine() == "HTTP/1.1 101 Switching Protocols", "\(request)")
        } else {
          let answer = try exchange.answer()
          #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(request)\(answer)")
          let body = answer.firstRange(of: "\r\n\r\n").map { answer[$0.upperBound...] } ?? ""
          // A sentence for a person, or a problem for a program.
          #expect(
            body.hasSuffix("\n") && body.count > 2
              || body.contains("\"status\":\(status)") && body.contains("\"detail\":\""),
            "\(request)\(answer)")
        }
      }
    }
  }
}
