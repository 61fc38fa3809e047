import TestSupport
import Testing
import Wire

extension `End to end` {
  /// A relay behind nginx, with the configuration of docs/operations.md.
  @Suite struct `Behind a documented proxy` {
    private let relay: RelayProcess
    private let nginx: Nginx

    init() throws {
      let document = try Document("docs/operations.md")
      let trusted = try #require(
        document.blocks.first { $0.language == "yaml" && $0.staged.contains("trusted_proxies") })
      relay = try RelayProcess(
        """
        \(trusted.lines.joined(separator: "\n"))
        limits: { unauthenticated_per_s: 2 }
        """)
      nginx = try Nginx(document.block(in: "nginx").lines.joined(separator: "\n"), relay)
    }

    @Test func `nobody reads metrics and traces without credentials`() throws {
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
      for _ in 0..<2 { #expect(try nginx.status(of: "/v1/rooms") != 404) }
      for field in ["X-Forwarded-For: 203.0.113.8", "Forwarded: for=203.0.113.9", "Via: x"] {
        #expect(
          becomesTrue { (try? nginx.status(of: "/v1/rooms", "--header", field)) == 429 }, "\(field)"
        )
      }
      #expect(try nginx.status(of: "/v1/rooms", "--interface", "127.0.0.2") == 401)
    }
  }
}

/// An nginx in front of a relay, whose configuration has a document's blocks.
private final class Nginx {
  let port: UInt16
  private let folder: TemporaryFolder
  private let process: ChildProcess

  init(_ documented: String, _ relay: RelayProcess) throws {
    folder = try TemporaryFolder()
    port = try freePort()
    guard documented.contains("http://127.0.0.1:8080;") else { throw Unexpected("no relay") }
    let blocks = documented.replacing(
      "http://127.0.0.1:8080;", with: "http://127.0.0.1:\(relay.port);")
    try folder.write(
      """
      daemon off;
      master_process off;  # which would leave its workers behind when it is killed
      pid nginx.pid;
      error_log stderr;
      events {}
      http {
        access_log off;
        client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
        uwsgi_temp_path uwsgi; scgi_temp_path scgi;
        server {
          listen 0.0.0.0:\(port);
          location / { return 404; }
          \(blocks)
        }
      }
      """, to: "nginx.conf")
    process = try ChildProcess(
      ["nginx", "-p", folder.path, "-e", "stderr", "-c", folder["nginx.conf"]], input: "")
    guard becomesTrue(within: Deadline(seconds: 30), { (try? status(of: "/")) == 404 }) else {
      throw Unexpected("nginx does not answer: \(process.errors)")
    }
  }

  func status(of path: String, _ options: String...) throws -> Int {
    let command =
      [
        "curl", "--silent", "--max-time", "6", "--output", "/dev/null", "--write-out",
        "%{http_code}",
      ] + options + ["http://127.0.0.1:\(port)\(path)"]
    let curl = try ChildProcess(command, input: "")
    try curl.wait()
    return Int(curl.output) ?? 0
  }
}
