import Glibc
import Platform
import TestSupport
import Testing
import Wire

extension `End to end` {
  /// A relay behind the proxies of docs/proxies.md, with their configurations.
  @Suite struct `Behind a documented proxy` {
    private static func document() throws -> Document { try Document("docs/proxies.md") }

    // MARK: nginx

    private func nginx(below prefix: String = "", _ more: String = "") throws -> FrontProxy {
      let document = try Self.document()
      let trusted = try #require(document.blocks.first { $0.language == "yaml" })
      let relay = try RelayProcess(
        """
        \(trusted.lines.joined(separator: "\n"))
        path_prefix: "\(prefix)"
        limits: { unauthenticated_per_s: 2 }
        \(more)
        """)
      var configuration = try document.block(in: "nginx")
      let rest = configuration.lines.drop { !$0.hasPrefix("location /v1/ ") }
      configuration.lines = configuration.lines.map { line in
        line.replacing("location /ws", with: "location \(prefix)/ws")
          .replacing("location /v1/", with: "location \(prefix.isEmpty ? "/v1" : prefix)/")
      }
      if more == Self.fileHost {
        configuration.lines += [
          "}", "server {", "listen 0.0.0.0:80;", "server_name files.example.org;",
        ]
        configuration.lines += rest.map {
          $0.replacing("location /v1/", with: "location /v1/files/")
        }
      }
      return try FrontProxy(
        .nginx, configuration, relays: [("127.0.0.1:8080", relay)], below: prefix)
    }

    @Test func `nginx has a relay below a path, with sockets, streams and the page`() throws {
      let nginx = try nginx(below: "/chat")
      try nginx.passesOn()
      try nginx.hasThePage()
    }

    @Test func `nginx passes on sockets and streams`() throws {
      let nginx = try nginx()
      try nginx.passesOn()
    }

    @Test func `nginx passes on files`() throws { try nginx().passesOnFiles() }

    private static let fileHost =
      "auth: { public_url: \"https://chat.example.org\" }\nfiles: { host: files.example.org }"

    @Test(arguments: ["", "/chat"])
    func `nginx passes on a second name, which has files and nothing else`(prefix: String) throws {
      let nginx = try nginx(below: prefix, Self.fileHost)
      try nginx.passesOnFileHost()
    }

    @Test func `nobody reads metrics and traces without credentials`() throws {
      let nginx = try nginx()
      let relay = nginx.relays[0]
      let ada = try RawClient(relay, user: "ada")
      try ada.say("hello", in: "dm:ada:bo", id: "1")
      #expect(try nginx.status(of: "/v1/rooms/dm:ada:bo/messages/1/trace") == 401)
      #expect(try nginx.status(of: "/v1/rooms/dm:ada:bo/messages/1/trace?user=ada") == 200)
      // The documented blocks do not pass it on; the relay takes no address for a credential either.
      #expect(try nginx.status(of: "/metrics") == 404)
      let metrics = try HTTPExchange(relay, "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
      #expect(try metrics.answer().hasPrefix("HTTP/1.1 401 "))
    }

    @Test func `the relay's own page connects, on a port that is not the default`() throws {
      let nginx = try nginx()
      let own = "http://127.0.0.1:\(nginx.port)"
      let client = try RawClient(
        port: nginx.port, user: "ada", headers: [(name: "Origin", value: own)])
      #expect(try client.join("general").head == 0)
      for (origin, status) in [
        (own, 200), ("http://127.0.0.1", 403), ("http://127.0.0.1:1", 403),
      ] {
        #expect(
          try nginx.status(of: "/v1/rooms?user=ada", "--header", "Origin: \(origin)") == status,
          "\(origin)")
      }
    }

    @Test func `a client has the limits of its own address, and cannot choose it`() throws {
      let nginx = try nginx()
      try nginx.limitsAddresses()
    }

    // MARK: haproxy

    /// In front of a relay that ends TLS.
    private func haproxy(limits: String = "", below prefix: String = "") throws -> FrontProxy {
      let document = try Self.document()
      let certificates = try Certificates()
      let block = try #require(document.blocks.first { $0.lines.contains("proxy_protocol: true") })
      let configuration = block.lines.filter { !$0.hasPrefix("listen:") }
        .joined(separator: "\n")
        .replacing("chat.pem", with: certificates["server.pem"])
        .replacing("chat.key", with: certificates["server.key"])
      let relay = try RelayProcess(
        "\(configuration)\npath_prefix: \"\(prefix)\"\nlimits: { \(limits) }")
      return try FrontProxy(
        .haproxy, document.block(in: "haproxy"), listen: "0.0.0.0:443",
        relays: [("127.0.0.1:8443", relay)], below: prefix, certificates: certificates)
    }

    @Test func `haproxy passes on sockets and streams in TLS, after a header of its own`() throws {
      let haproxy = try haproxy()
      try haproxy.passesOn()
      #expect(try haproxy.status(of: "/") == 200)
    }

    @Test func `haproxy has a relay below a path, with sockets, streams and the page`() throws {
      let haproxy = try haproxy(below: "/chat")
      try haproxy.passesOn()
      try haproxy.hasThePage()
    }

    @Test func `haproxy passes on files`() throws { try haproxy().passesOnFiles() }

    @Test func `a client has the limits of the address that haproxy names`() throws {
      let haproxy = try haproxy(limits: "unauthenticated_per_s: 2")
      try haproxy.limitsAddresses()
    }

    // MARK: Caddy

    @Test func `Caddy has a relay below a path, with sockets, streams and the page`() throws {
      let document = try Self.document()
      let block = try #require(document.blocks.first { $0.lines.contains("path_prefix: /chat") })
      let caddy = try FrontProxy(
        .caddy, document.block(in: "caddy"), listen: "example.org",
        relays: [
          (
            "127.0.0.1:8080",
            try RelayProcess(
              block.lines.joined(separator: "\n") + "\nlimits: { unauthenticated_per_s: 2 }")
          )
        ], below: "/chat")
      try caddy.passesOn()
      try caddy.passesOnFiles()
      try caddy.limitsAddresses()
      try caddy.hasThePage()
      #expect(try caddy.status(of: "") == 308)
    }

    @Test func `past haproxy the relay is not reached`() throws {
      let haproxy = try haproxy()
      let relay = haproxy.relays[0]
      let curl = try ChildProcess(
        [
          "curl", "--silent", "--insecure", "--interface", "127.0.0.2",
          "https://127.0.0.1:\(relay.port)/",
        ], input: "")
      #expect(try curl.wait() != .exit(0))
      try relay.process.waitForErrors { $0.contains("is not in trusted_proxies") }
    }
  }
}

extension FrontProxy {
  /// Checks that a WebSocket works, and that events come when they happen.
  fileprivate func passesOn() throws {
    let chat = try ChildProcess(
      [Programs.wschat, "\(url)/", "--user", "ada"] + (authority.map { ["--ca", $0] } ?? []),
      environment: ["TZ=UTC0"], input: "hello\n")
    #expect(try chat.wait() == .exit(0), "\(chat.errors)")
    let stream = try request("/v1/stream?room=later&user=ada", "--no-buffer")
    #expect(becomesTrue { stream.output.contains("joined") }, "\(stream.output)")
    for number in 1...3 {
      let status = try status(
        of: "/v1/rooms/later/messages?user=bo", "--header", "Content-Type: application/json",
        "--data", "{\"id\":\"\(number)\",\"text\":\"number \(number)\"}")
      #expect(status == 201)
      #expect(becomesTrue { stream.output.contains("number \(number)") }, "\(stream.output)")
    }
    #expect(stream.isRunning)
    stream.signal(SIGTERM)
    try stream.wait()
  }

  /// Checks that an upload of some megabytes goes on where it broke off, and that the file is read in parts.
  fileprivate func passesOnFiles() throws {
    let folder = try TemporaryFolder()
    let content = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) }
    let tus = ["--header", "Tus-Resumable: 1.0.0", "--dump-header", folder["head"]]
    func field(_ name: String) throws -> Substring? {
      let head = String(decoding: try readBytes(folder["head"]), as: UTF8.self)
      let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("\(name): ") }
      return line?.dropFirst(name.count + 2)
    }
    func append(_ file: Substring, _ options: String..., from offset: Int) throws -> ChildProcess {
      try WholeFile.write(Array(content[offset...]), to: folder["content"])
      return try request(
        "/v1/files/\(file)?user=ada",
        tus + options + [
          "--request", "PATCH", "--fail", "--data-binary", "@\(folder["content"])", "--header",
          "Content-Type: application/offset+octet-stream", "--header", "Upload-Offset: \(offset)",
        ])
    }
    let created = try request(
      "/v1/files?user=ada",
      tus + [
        "--header", "Upload-Length: \(content.count)", "--data", "", "--header", "Content-Type:",
      ])
    #expect(try created.wait() == .exit(0))
    let file = try #require(try field("location")?.split(separator: "/").last)
    let broken = try append(file, "--limit-rate", "1M", "--max-time", "2", from: 0)
    #expect(try broken.wait() == .exit(28), "curl's time is over")
    var offset = 0
    #expect(
      becomesTrue {
        _ = try? request("/v1/files/\(file)?user=ada", tus + ["--head"]).wait()
        offset = ((try? field("upload-offset")) ?? nil).flatMap { Int($0) } ?? 0
        return offset > 0
      }, "what has arrived is kept")
    let rest = try append(file, from: offset)
    #expect(try rest.wait() == .exit(0), "\(rest.errors)")
    try send(file)
    for (range, part) in [("1000000-3999999", 1_000_000..<4_000_000), ("0-", 0..<5_000_000)] {
      let read = try request(
        "/v1/files/\(file)?user=bo", ["--fail", "--range", range, "--output", folder["part"]])
      #expect(try read.wait() == .exit(0))
      #expect(try readBytes(folder["part"]) == Array(content[part]))
    }
  }

  private func send(_ file: Substring) throws {
    let entry = "{\"id\":\"f\",\"kind\":\"file\",\"file\":\"\(file)\",\"name\":\"a.bin\"}"
    #expect(
      try status(
        of: "/v1/rooms/later/messages?user=ada", "--header", "Content-Type: application/json",
        "--data", entry) == 201)
  }

  /// Checks that `files.example.org` has the files of this host, by links, and nothing else.
  fileprivate func passesOnFileHost() throws {
    let folder = try TemporaryFolder()
    try WholeFile.write(Array("hello".utf8), to: folder["content"])
    let created = try request(
      "/v1/files?user=ada",
      [
        "--data-binary", "@\(folder["content"])", "--write-out", "%header{location}", "--header",
        "Tus-Resumable: 1.0.0", "--header", "Upload-Length: 5", "--header",
        "Content-Type: application/offset+octet-stream",
      ])
    try created.wait()
    let file = try #require(created.output.split(separator: "/").last)
    try send(file)
    let asked = try request(
      "/v1/files/\(file)/link?user=ada", "--request", "POST")
    try asked.wait()
    let url = /"url":"https:\/\/files.example.org(\/v1\/files\/[^"]+)"/
    let link = try #require(
      asked.output.firstMatch(of: url)?.1, "\(created.output), \(asked.output)")
    let host = ["--header", "Host: files.example.org"]
    for (path, expected) in [(link, "hello\n200"), ("/v1/rooms?user=ada", "404"), ("/", "404")] {
      let answer = try ChildProcess(
        ["curl", "--silent", "--write-out", "\\n%{http_code}"] + host
          + ["http://127.0.0.1:\(port)\(path)"], input: "")
      try answer.wait()
      #expect(answer.output.hasSuffix(expected), "\(path): \(answer.output)")
    }
  }

  /// Checks that the page and what it loads are found.
  fileprivate func hasThePage() throws {
    let page = try request("/", "--location")
    try page.wait()
    let script = try #require(page.output.firstMatch(of: /src="(web\/[^"]+)"/)?.1)
    #expect(try status(of: "/\(script)") == 200)
  }

  /// Checks that unauthenticated requests, of which an address may make two per second, are limited by
  /// the client's address.
  fileprivate func limitsAddresses() throws {
    for field in [
      "Via: x", "X-Forwarded-For: 203.0.113.8", "Forwarded: for=203.0.113.9",
    ] {
      #expect(
        becomesTrue { (try? status(of: "/v1/rooms", "--header", field)) == 429 }, "\(field)")
    }
    #expect(try status(of: "/v1/rooms", "--interface", "127.0.0.2") == 401)
  }
}
