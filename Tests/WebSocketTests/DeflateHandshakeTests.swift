import Testing
import WebSocket

/// The negotiation as each side states it, by the handshakes of both.
@Suite struct `Negotiating compression, RFC 7692 §5 and §7․1` {
  static let nonce = Array("the sample nonce".utf8)

  /// Our server's answer to lines of `Sec-WebSocket-Extensions`; `nil` if it declines.
  private func response(
    to lines: [String], compresses: Bool = true
  ) throws -> (value: String, agreement: DeflateAgreement)? {
    guard
      case .accept(let accepted, _, let agreement) = try answer(to: lines, compresses: compresses)
    else {
      Issue.record("refused")
      return nil
    }
    let response = String(decoding: accepted.bytes, as: UTF8.self)
    let name = "Sec-WebSocket-Extensions: "
    let line = response.split(separator: "\r\n").first { $0.hasPrefix(name) }
    #expect((line == nil) == (agreement == nil))
    guard let line, let agreement else { return nil }
    return (String(line.dropFirst(name.count)), agreement)
  }

  private func answer(to lines: [String], compresses: Bool) throws -> ServerHandshake.Answer {
    var text = "GET /ws HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    text += "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    for line in lines { text += "Sec-WebSocket-Extensions: \(line)\r\n" }
    let request = try #require(
      try HTTPRequest.read(Array("\(text)\r\n".utf8).span, headerLimitBytes: 0))
    return ServerHandshake.answer(request.request, subprotocols: [], compresses: compresses)
  }

  // MARK: The server's side

  static let both = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"

  @Test(
    arguments: [
      (["permessage-deflate"], both),
      (["permessage-deflate; client_max_window_bits"], both),
      (["permessage-deflate; client_max_window_bits=8"], both),
      (["permessage-deflate;client_max_window_bits = 10 ; server_no_context_takeover"], both),
      (["permessage-deflate; client_no_context_takeover"], both),
      (
        ["permessage-deflate; server_max_window_bits=9; client_no_context_takeover"],
        both + "; server_max_window_bits=9"
      ),
      (["permessage-deflate; server_max_window_bits=15"], both + "; server_max_window_bits=15"),
      // RFC 6455 §9.1: a value may be quoted.
      (
        [#"permessage-deflate; server_max_window_bits="1\0""#],
        both + "; server_max_window_bits=10"
      ),
      // The first acceptable one counts, over all lines; others do no harm.
      (
        ["x-webkit-deflate-frame, permessage-deflate; server_max_window_bits=8, ,"]
          + [#"other; a="b"; c, permessage-deflate; server_max_window_bits=12,permessage-deflate"#],
        both + "; server_max_window_bits=12"
      ),
      (["permessage-deflate; unknown", "permessage-deflate"], both),
    ])
  func `a legal offer is accepted, without context takeover`(lines: [String], value: String)
    throws
  {
    let accepted = try #require(try response(to: lines))
    #expect(accepted.value == value)
    #expect(!accepted.agreement.serverKeepsContext)
    #expect(!accepted.agreement.clientKeepsContext)
    #expect(accepted.agreement.clientWindowBits == 15)
    let bits = value.split(separator: "bits=").dropFirst().first.flatMap { Int($0) } ?? 15
    #expect(accepted.agreement.serverWindowBits == bits)
  }

  @Test(arguments: [
    [], [""], ["x-webkit-deflate-frame"], ["Permessage-Deflate"], ["permessage-deflate2"],
    ["permessage-deflate; unknown"], ["permessage-deflate; unknown=1"],
    ["permessage-deflate; Client_No_Context_Takeover"],
    ["permessage-deflate; server_no_context_takeover=true"],
    [#"permessage-deflate; client_no_context_takeover="1""#],
    ["permessage-deflate; server_no_context_takeover; server_no_context_takeover"],
    ["permessage-deflate; client_max_window_bits; client_max_window_bits=10"],
    ["permessage-deflate; server_max_window_bits"],
    ["permessage-deflate; server_max_window_bits=7"],
    ["permessage-deflate; server_max_window_bits=8"],
    ["permessage-deflate; server_max_window_bits=16"],
    ["permessage-deflate; server_max_window_bits=010"],
    ["permessage-deflate; server_max_window_bits=+9"],
    ["permessage-deflate; server_max_window_bits=9.0"],
    ["permessage-deflate; server_max_window_bits=99999999999999999999"],
    ["permessage-deflate; client_max_window_bits=7"],
    ["permessage-deflate; client_max_window_bits=16"],
    ["permessage-deflate; client_max_window_bits=x"],
  ])
  func `an offer that is not legal, or cannot be met, is declined`(lines: [String]) throws {
    #expect(try response(to: lines) == nil)
  }

  @Test(arguments: [
    "permessage-deflate;", "permessage-deflate; ;", "; client_max_window_bits", "=", "a b",
    "permessage-deflate; client_max_window_bits=", "permessage-deflate; =9", "a; b c",
    #"permessage-deflate; client_max_window_bits="9"#, #"a; b="""#, #"a; b="c d""#, #"a; b="c\"#,
    #"a; b="c"d"#, "a/b", "permessage-deflate; client_max_window_bits==9", #""a""#,
  ])
  func `a header that is no list of extensions is answered with 400`(line: String) throws {
    guard case .refuse(let refusal) = try answer(to: [line], compresses: true) else {
      Issue.record("not refused")
      return
    }
    #expect(refusal.status == 400)
    // Without compression the header is not parsed.
    #expect(try response(to: [line], compresses: false) == nil)
  }

  @Test func `without compression every offer is declined`() throws {
    #expect(try response(to: ["permessage-deflate"], compresses: false) == nil)
  }

  // MARK: The client's side

  static let frugal =
    "permessage-deflate; server_no_context_takeover; client_no_context_takeover;"
    + " client_max_window_bits"

  @Test func `the client offers no context takeover first, and then what a server may insist on`() {
    let handshake = ClientHandshake(
      host: "h", target: "/", deflate: DeflateParameters.clientOffers, nonce: Self.nonce)
    let request = String(decoding: handshake.request, as: UTF8.self)
    let line =
      "Sec-WebSocket-Extensions: \(Self.frugal), permessage-deflate; client_max_window_bits"
    #expect(request.contains("\r\n\(line)\r\n"))
  }

  private func read(_ offers: [DeflateParameters], _ lines: [String])
    throws(HandshakeFailure) -> DeflateAgreement?
  {
    var handshake = ClientHandshake(
      host: "h", target: "/", deflate: offers, nonce: Self.nonce)
    var text = "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    text += "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
    for line in lines { text += "Sec-WebSocket-Extensions: \(line)\r\n" }
    return try handshake.read(Array("\(text)\r\n".utf8).span, headerLimitBytes: 0)?.deflate
  }

  @Test func `our client and our server agree`() throws {
    var handshake = ClientHandshake(
      host: "h", target: "/", deflate: DeflateParameters.clientOffers, nonce: Self.nonce)
    let request = try #require(
      try HTTPRequest.read(handshake.request.span, headerLimitBytes: 0)
    ).request
    let answer = ServerHandshake.answer(request, subprotocols: [], compresses: true)
    guard case .accept(let response, _, let agreement?) = answer else {
      Issue.record("declined")
      return
    }
    #expect(try handshake.read(response.bytes.span, headerLimitBytes: 0)?.deflate == agreement)
  }

  /// Offers as in the header, and the smallest window that the client may be told.
  private func offers(_ texts: [String]) -> [DeflateParameters] {
    texts.map { text in
      var offer = DeflateParameters()
      offer.serverNoContextTakeover = text.contains("server_no")
      offer.clientNoContextTakeover = text.contains("client_no")
      if text.contains("server_max=10") { offer.serverMaxWindowBits = 10 }
      if text.contains("client_max=12") { offer.clientMaxWindowBits = 12 }
      if text.contains("client_max=15") { offer.clientMaxWindowBits = 15 }
      return offer
    }
  }

  @Test(
    arguments: [
      ([""], "", (true, true, 15, 15)),
      ([""], "; client_no_context_takeover; server_no_context_takeover", (false, false, 15, 15)),
      // A server may limit itself, and spare the client, without being asked.
      ([""], "; server_max_window_bits=8", (true, true, 8, 15)),
      (["client_no"], "", (true, false, 15, 15)),
      (["server_no"], "; server_no_context_takeover", (false, true, 15, 15)),
      (["server_max=10"], #"; server_max_window_bits="9""#, (true, true, 9, 15)),
      (["client_max=15"], "; client_max_window_bits=8", (true, true, 15, 8)),
      (["client_max=12"], "", (true, true, 15, 12)),
      (["client_max=12"], "; client_max_window_bits=12", (true, true, 15, 12)),
      (["server_no,client_max=15", ""], "", (true, true, 15, 15)),
      (["server_no", "client_max=15"], "; client_max_window_bits=9", (true, true, 15, 9)),
    ] as [([String], String, (Bool, Bool, Int, Int))])
  func `a response that follows from an offer is accepted`(
    texts: [String], parameters: String, expected: (Bool, Bool, Int, Int)
  ) throws {
    let agreement = try #require(
      try read(offers(texts), ["permessage-deflate\(parameters)"]))
    #expect(agreement.serverKeepsContext == expected.0)
    #expect(agreement.clientKeepsContext == expected.1)
    #expect(agreement.serverWindowBits == expected.2)
    #expect(agreement.clientWindowBits == expected.3)
  }

  @Test func `a server may decline`() throws {
    #expect(try read(offers([""]), []) == nil)
  }

  @Test(
    arguments: [
      (["server_no"], ["permessage-deflate"], .deflateInvalid(.missing(.serverNoContextTakeover))),
      (
        [""], ["permessage-deflate; client_max_window_bits=15"],
        .deflateInvalid(.notOffered(.clientMaxWindowBits))
      ),
      (
        ["client_max=12"], ["permessage-deflate; client_max_window_bits=13"],
        .deflateInvalid(.notOffered(.clientMaxWindowBits))
      ),
      (
        ["client_max=12"], ["permessage-deflate; client_max_window_bits"],
        .deflateInvalid(.badValue(.clientMaxWindowBits))
      ),
      (
        ["server_max=10"], ["permessage-deflate"],
        .deflateInvalid(.missing(.serverMaxWindowBits))
      ),
      (
        ["server_max=10"], ["permessage-deflate; server_max_window_bits=11"],
        .deflateInvalid(.notOffered(.serverMaxWindowBits))
      ),
      (
        [""], ["permessage-deflate; server_max_window_bits=9; server_max_window_bits=9"],
        .deflateInvalid(.duplicate(.serverMaxWindowBits))
      ),
      ([""], ["permessage-deflate; fast"], .deflateInvalid(.unknown)),
      (
        [""], ["permessage-deflate; server_no_context_takeover=1"],
        .deflateInvalid(.badValue(.serverNoContextTakeover))
      ),
      ([""], ["permessage-deflate, permessage-deflate"], .extensionUnexpected),
      ([""], ["permessage-deflate", "permessage-deflate"], .extensionUnexpected),
      ([""], ["x-webkit-deflate-frame"], .extensionUnexpected),
      ([], ["permessage-deflate"], .extensionUnexpected),
      ([""], ["permessage-deflate;"], .extensionMalformed),
    ] as [([String], [String], HandshakeFailure)])
  func `a response that does not follow from an offer is refused`(
    texts: [String], lines: [String], failure: HandshakeFailure
  ) {
    #expect(throws: failure) { try read(offers(texts), lines) }
  }
}
