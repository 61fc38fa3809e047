import TestSupport
import Testing

extension `End to end` {
  /// Each of these peers, without TLS and by TLS, with and without compression: three texts go out, one
  /// of 60 KiB, in fragments from those who can, and come back as entries. What was agreed upon is
  /// what the peer says. Debian's curl, which could be one of them, is built without WebSocket.
  @Suite struct `Peers of every kind, over every way` {
    /// How a peer reaches the relay.
    struct Way: CustomTestStringConvertible {
      let isEncrypted: Bool
      let isCompressed: Bool

      var testDescription: String {
        "\(isEncrypted ? "TLS" : "without TLS"), \(isCompressed ? "compressed" : "not compressed")"
      }

      static let all = [false, true].flatMap { encrypted in
        [false, true].map { Way(isEncrypted: encrypted, isCompressed: $0) }
      }
    }

    enum Library: String, CaseIterable {
      case websockets = "texts-websockets.py"
      case aiohttp = "texts-aiohttp.py"
      case ws = "texts.js"

      // Debian's own interpreter is the one that has Debian's packages.
      var interpreter: String {
        self == .ws ? "/usr/bin/node" : "/usr/bin/python3"
      }
    }

    private static let roomy = "limits: { frame_bytes: 262144, text_bytes: 65536 }"

    @Test(arguments: Library.allCases, Way.all)
    func `a library receives the texts that it sent`(library: Library, way: Way) throws {
      let certificates = way.isEncrypted ? try Certificates() : nil
      try certificates?.use("server", key: "server")
      let relay = try RelayProcess("\(Self.roomy)\n\(certificates?.configuration ?? "")")
      let peer = try ChildProcess(
        [
          library.interpreter, Programs.peer(library.rawValue), relay.url,
          certificates?.authority ?? "-", way.isCompressed ? "deflate" : "none",
        ], environment: ["NODE_PATH=/usr/share/nodejs", "PYTHONDONTWRITEBYTECODE=1"], input: "")
      #expect(try peer.wait(Deadline(seconds: 150)) == .exit(0), "\(peer.errors)")
      let agreed =
        "\(way.isEncrypted ? "TLSv1.3" : "without TLS"), "
        + (way.isCompressed ? "permessage-deflate, 2 compressed" : "nothing, 0 compressed")
      #expect(peer.output == "\(agreed), closed with 1000\n")
      #expect(try relay.stop() == .exit(0))
    }

    /// A page cannot ask for no compression: there it is the relay that does not agree to it.
    @Test(arguments: Way.all)
    func `a page in Chromium receives the texts that it sent`(way: Way) throws {
      let certificates = way.isEncrypted ? try Certificates() : nil
      try certificates?.use("server", key: "server")
      let page = try Page(trusting: certificates?["used.pem"])
      let relay = try RelayProcess(
        """
        \(Self.roomy)
        \(`wschat, in lines`.echo)
        auth: { origins: ["\(page.origin)"] }
        compression: { enabled: \(way.isCompressed) }
        \(certificates?.configuration ?? "")
        """)
      #expect(relay.scheme == (way.isEncrypted ? "wss" : "ws"))
      let agreed = way.isCompressed ? "permessage-deflate" : "nothing"
      #expect(try page.result(from: relay) == "chatted with \(agreed), closed with 1000")
      #expect(try relay.stop() == .exit(0))
    }

    @Test func `a page in Chromium does not connect if the certificate is not trusted`() throws {
      let certificates = try Certificates()
      try certificates.use("server", key: "server")
      let page = try Page()
      let relay = try RelayProcess(
        "auth: { origins: [\"\(page.origin)\"] }\n\(certificates.configuration)")
      #expect(try page.result(from: relay) == "not let in, closed with 1006")
      #expect(try relay.stop() == .exit(0))
    }
  }
}
