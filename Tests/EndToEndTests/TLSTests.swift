import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  @Suite struct `TLS` {
    static let python = "/usr/bin/python3"
    let certificates: Certificates

    init() throws {
      certificates = try Certificates()
      try certificates.use("server", key: "server")
    }

    private func relay(_ configuration: String = "") throws -> RelayProcess {
      try RelayProcess("\(certificates.configuration)\n\(configuration)")
    }

    private func wschat(
      _ url: String, _ arguments: String..., input: String? = "hello\n"
    ) throws -> ChildProcess {
      try ChildProcess(
        [Programs.wschat, url, "--user", "ada"] + arguments, environment: ["TZ=UTC0"],
        input: input)
    }

    // MARK: Others against our relay

    static let roomy = """
      debug: { echo: true }
      limits: { frame_bytes: 1048576, queue_bytes: 1048576, sends_per_s: 0, bytes_per_s: 0, burst: 0 }
      """

    @Test(arguments: ["versions", "stall", "cut"])
    func `Python's ssl and websockets find nothing wrong`(part: String) throws {
      let relay = try relay(Self.roomy)
      try self.part(part, against: relay)
      // Whoever comes next is served.
      let chat = try wschat(relay.url, "--ca", certificates.authority)
      #expect(try chat.wait() == .exit(0), "\(chat.errors)")
      #expect(try relay.stop() == .exit(0))
    }

    /// A part of tls_client.py, against such a relay.
    private func part(_ name: String, _ arguments: String..., against relay: RelayProcess) throws {
      let peer = try ChildProcess(
        [
          Self.python, Programs.peer("tls_client.py"), name, "\(relay.port)",
          certificates.authority,
        ] + arguments, input: "")
      #expect(try peer.wait(Deadline(seconds: 150)) == .exit(0), "\(peer.errors)")
      #expect(peer.output == "good\n")
    }

    @Test func `two hundred clients of one address that connect at once are admitted`() throws {
      let relay = try relay()
      try part("crowd", against: relay)
      #expect(try relay.stop() == .exit(0))
    }

    @Test func `unauthenticated clients beyond the limit are told to try later`() throws {
      let relay = try relay("limits: { handshake_timeout_ms: 4000 }")
      try part("late", against: relay)
      #expect(try relay.stop() == .exit(0))
    }

    @Test func `a client that is refused before the handshake gets an alert`() throws {
      let relay = try relay("limits: { connections_per_address: 5 }")
      try part("refused", against: relay)
      #expect(try relay.stop() == .exit(0))
    }

    @Test func `without memory for a session one connection is refused, and the others go on`()
      throws
    {
      let folder = try TemporaryFolder()
      try run("cc", "-shared", "-fPIC", "-o", folder["no_memory.so"], Programs.peer("no_memory.c"))
      let relay = try RelayProcess(
        "\(certificates.configuration)\ndebug: { echo: true }",
        under: [
          "env", "LD_PRELOAD=\(folder["no_memory.so"])", "NO_MEMORY=\(folder["no memory"])",
        ])
      try part("memory", folder["no memory"], against: relay)
      try relay.process.waitForErrors {
        $0.contains(" warning Connections were rejected: the relay is out of memory. ")
      }
      #expect(try relay.stop() == .exit(0))
    }

    @Test
    func `HTTP without TLS on its port is told to use TLS, and TLS on a plain port is closed`()
      throws
    {
      let encrypted = try relay()
      let answer = try HTTPExchange(encrypted, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").answer()
      #expect(answer.hasPrefix("HTTP/1.1 400 "))
      #expect(answer.contains("This port requires TLS"))
      let plain = try RelayProcess()
      let chat = try wschat("wss://127.0.0.1:\(plain.port)", "--timeout", "1")
      #expect(try chat.wait() == .exit(5))
      #expect(chat.errors.contains("the peer does not use TLS"))
      #expect(try RawClient(plain, user: "ada").say("there", in: "general", id: "1").seq == 1)
    }

    @Test func `a client that does not complete the handshake is disconnected`() throws {
      let relay = try relay("limits: { handshake_timeout_ms: 300 }")
      // Nothing at all, and the begin of a record.
      for beginning in ["", "\u{16}\u{3}\u{1}"] {
        #expect(try HTTPExchange(relay, beginning).answer() == "")
      }
    }

    // MARK: The pair of files

    @Test func `a pair that cannot be used ends the start with 1 and a sentence`() throws {
      for (certificate, key, complaint) in [
        ("server", "renewed", "does not belong to the certificate"),
        ("expired", "expired", "expired on "),
        ("missing", "server", "No such file or directory"),
      ] {
        let folder = try TemporaryFolder()
        try folder.write(
          """
          listen: 127.0.0.1:0
          data: \(folder["data"])
          tls:
            certificate: \(certificates["\(certificate).pem"])
            key: \(certificates["\(key).key"])
          """, to: "relay.yaml")
        for command in ["serve", "check-config"] {
          let relay = try RelayProcess.command(command, "--config", folder["relay.yaml"])
          #expect(try relay.wait() == .exit(1))
          #expect(relay.errors.contains(complaint))
          #expect(relay.errors.contains("tls.certificate"))
          #expect(!relay.errors.contains("listening"))
        }
      }
    }

    /// The subject of the certificate that a new connection is shown.
    private func shown(by relay: RelayProcess) throws -> String {
      let client = try ChildProcess(
        ["openssl", "s_client", "-connect", "127.0.0.1:\(relay.port)"], input: "")
      try client.wait()
      return String(
        client.output.split(separator: "\n").first { $0.hasPrefix("subject=") } ?? "none")
    }

    @Test func `SIGHUP changes the certificate of new connections, and drops none`() throws {
      let relay = try relay()
      let chat = try wschat(
        relay.url, "--ca", certificates.authority, "--json", "--follow", input: nil)
      chat.write("one\n")
      try chat.waitForOutput { $0.contains(#""seq":1"#) }
      #expect(try shown(by: relay).hasSuffix("server"))

      try certificates.use("renewed", key: "renewed")
      relay.process.signal(SIGHUP)
      try relay.process.waitForErrors { $0.contains("New connections use the certificate") }
      #expect(try shown(by: relay).hasSuffix("renewed"))

      // A pair that does not fit changes nothing.
      try certificates.use("server", key: "renewed")
      relay.process.signal(SIGHUP)
      try relay.process.waitForErrors { $0.contains("The certificate was not replaced. ") }
      #expect(try shown(by: relay).hasSuffix("renewed"))

      chat.write("two\n")
      try chat.waitForOutput { $0.contains(#""text":"two""#) }
      chat.signal(SIGTERM)
      #expect(try chat.wait() == .exit(0))
      #expect(chat.errors.isEmpty)
      #expect(chat.output.split(separator: "\n").count { $0.contains(#""welcome""#) } == 1)
      #expect(try relay.stop() == .exit(0))
    }

    // MARK: Our client against others

    private func server(_ name: String, _ arguments: String...) throws -> (ChildProcess, String) {
      let server = try ChildProcess(
        [
          Self.python, Programs.peer("tls_server.py"), certificates["\(name).pem"],
          certificates["\(name).key"],
        ] + arguments)
      var url = ""
      try server.waitForOutput { text in
        guard text.hasPrefix("port "), let end = text.firstIndex(of: "\n") else { return false }
        url = "wss://localhost:\(text[..<end].dropFirst(5))"
        return true
      }
      return (server, url)
    }

    @Test(arguments: ["1.2", "1.3"])
    func `wschat chats with a Python server, and reconnects with a resumed session`(version: String)
      throws
    {
      let (server, url) = try server("server", version)
      let chat = try wschat(url, "--ca", certificates.authority)
      #expect(try chat.wait() == .exit(0), "\(chat.errors)")
      try server.waitForOutput { $0.contains("resumed False\nresumed True\n") }
    }

    @Test func `a certificate that proves nothing ends wschat with 5 and a sentence`() throws {
      for (name, trusts, complaint) in [
        ("server", false, "unable to get local issuer certificate"),
        ("expired", true, "certificate has expired"), ("elsewhere", true, "hostname mismatch"),
      ] {
        let (server, url) = try server(name)
        let arguments = trusts ? ["--ca", certificates.authority] : []
        let chat = try ChildProcess(
          [Programs.wschat, url, "--user", "ada"] + arguments, input: "secret\n")
        #expect(try chat.wait() == .exit(5))
        #expect(
          chat.errors
            == "wschat: the certificate of localhost is not trusted: \(complaint); trust its authority with --ca FILE, or skip verification with --insecure\n"
        )
        let careless = try wschat(url, "--insecure")
        #expect(try careless.wait() == .exit(0), "\(careless.errors)")
        _ = server
      }
    }
  }

  @Suite struct `Measured: TLS` {
    /// About 29 KiB each were measured; buffers that OpenSSL keeps would be 33 KiB more.
    @Test func `an idle connection holds no buffers`() throws {
      let certificates = try Certificates()
      try certificates.use("server", key: "server")
      let relay = try RelayProcess(
        "\(certificates.configuration)\nlimits: { unauthenticated_per_address: 0 }")
      let peer = try ChildProcess([
        TLS.python, Programs.peer("tls_client.py"), "idle", "\(relay.port)",
        certificates.authority,
      ])
      try peer.waitForOutput(Deadline(seconds: 150)) { $0.contains("open 50\n") }
      let before = try relay.memory.now
      peer.write("\n")
      try peer.waitForOutput(Deadline(seconds: 150)) { $0.contains("open 350\n") }
      let each = (try relay.memory.now - before) / 300
      #expect(each < 48 * 1024, "\(each) bytes each")
      peer.closeInput()
      #expect(try peer.wait(Deadline(seconds: 150)) == .exit(0), "\(peer.errors)")
    }
  }
}
