/// The server's side of the opening handshake (RFC 6455 §4.2).
public enum ServerHandshake {
  /// The response to send, and whether frames follow it.
  public enum Answer: Equatable, Sendable {
    /// Send the response; frames follow on the connection.
    case accept(HTTPResponse, subprotocol: String?, deflate: DeflateAgreement?)
    /// Send the response, whose content is the reason as plain text, and close.
    case refuse(HTTPResponse)
  }

  /// Answers a request for a WebSocket. The caller has to check before which clients and origins
  /// may connect.
  /// - Parameters:
  ///   - subprotocols: the supported ones in order of preference. A client that offers none is
  ///     accepted without one; a client that offers only others is refused. If empty, no
  ///     subprotocol is chosen, and the client decides whether to continue (§4.1).
  ///   - compresses: whether to accept offers of permessage-deflate. Otherwise its offers are
  ///     ignored; other extensions always are.
  public static func answer(
    _ request: HTTPRequest, subprotocols: [String], compresses: Bool = false
  ) -> Answer {
    let headers = request.headers

    // RFC 6455 §4.2.1, item 1.
    guard request.method == "GET" else {
      return refuse(
        405, "A WebSocket handshake requires the method GET.", ("Allow", "GET"))
    }
    // Items 3 and 4. 426 and Upgrade tell a client that asked for a page what is served here.
    guard headers.contains("websocket", in: "Upgrade"),
      headers.contains("upgrade", in: "Connection")
    else {
      return refuse(
        426,
        "This is a WebSocket endpoint; it requires Upgrade: websocket and Connection: Upgrade.",
        ("Upgrade", "websocket"), ("Connection", "Upgrade"))
    }
    // Item 6 and §4.4.
    guard headers.only("Sec-WebSocket-Version") == "13" else {
      return refuse(
        426, "Only WebSocket version 13 is supported (Sec-WebSocket-Version: 13).",
        ("Sec-WebSocket-Version", "13"), ("Upgrade", "websocket"), ("Connection", "Upgrade"))
    }
    // Item 5.
    guard let key = headers.only("Sec-WebSocket-Key"), AcceptKey.isValid(key) else {
      return refuse(
        400, "There must be exactly one Sec-WebSocket-Key header with 16 bytes in base64.")
    }
    // Item 8; the names are case-sensitive.
    let offered = headers.list("Sec-WebSocket-Protocol")
    guard offered.allSatisfy(HTTPHeaders.isName) else {
      return refuse(400, "Sec-WebSocket-Protocol must be a list of tokens.")
    }
    let chosen = subprotocols.first(where: offered.contains)
    guard chosen != nil || offered.isEmpty || subprotocols.isEmpty else {
      return refuse(
        400,
        "None of the offered subprotocols is supported. Supported: "
          + "\(subprotocols.joined(separator: ", ")).")
    }

    // Item 9; RFC 6455 §9.1 fails on a malformed list, RFC 7692 §7 only declines a bad offer.
    var deflate: (agreement: DeflateAgreement, response: String)?
    if compresses {
      guard let offers = WebSocketExtension.list(headers["Sec-WebSocket-Extensions"]) else {
        return refuse(
          400, "Sec-WebSocket-Extensions must be a list of extensions with their parameters.")
      }
      deflate = DeflateAgreement.answer(to: offers)
    }

    var response = HTTPResponse(status: 101)
    response.add("Upgrade", "websocket")
    response.add("Connection", "Upgrade")
    response.add("Sec-WebSocket-Accept", AcceptKey.accept(for: key))
    if let chosen { response.add("Sec-WebSocket-Protocol", chosen) }
    if let deflate { response.add("Sec-WebSocket-Extensions", deflate.response) }
    return .accept(response, subprotocol: chosen, deflate: deflate?.agreement)
  }

  private static func refuse(
    _ status: Int, _ reason: String, _ headers: (name: String, value: String)...
  ) -> Answer {
    var response = HTTPResponse(status: status, text: "\(reason)\n")
    for header in headers { response.add(header.name, header.value) }
    return .refuse(response)
  }
}
