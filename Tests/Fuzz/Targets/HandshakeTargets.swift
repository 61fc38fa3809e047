import WebSocket

/// Input: a byte of choices and a byte that cuts, then HTTP.
enum HandshakeTargets {
  private static let headerLimits = [0, 64, 512, 8192]
  private static let protocols = [["relay.v1"], ["relay.v1", "chat"], [], ["chat"]]
  private static let nonce = Array("the sample nonce".utf8)

  /// A whole head and its end, or its error, or neither yet.
  private typealias Read<Value> = Result<(Value, length: Int)?, HTTPViolation>

  // MARK: Requests

  static func checkRequest(_ input: inout FuzzInput) throws(FuzzFinding) {
    let limit = headerLimits[Int(input.choice() & 3)]
    let seed = input.choice()
    let bytes = Array(input.rest)
    let whole = read(bytes[...], limit)

    // The first result for a growing request is the result for the whole of it.
    var end = 0
    for piece in Cuts(bytes[...], seed: seed) {
      end += piece.count
      let part = read(bytes[..<end], limit)
      if case .success(nil) = part { continue }
      try expect(isSame(part, whole), "after \(end) bytes it is \(part), and later \(whole)")
      break
    }

    switch whole {
    case .success(nil):
      try expect(limit == 0 || bytes.count < limit, "a head of \(bytes.count) bytes goes on")
    case .success((let request, let length)?):
      try expect(limit == 0 || length <= limit, "a head of \(length) bytes is read")
      try expect(length <= bytes.count, "a head of \(length) bytes out of \(bytes.count)")
      try checkWrittenAgain(request)
      try checkQuery(request)
    case .failure(let violation):
      try checkRefusal(
        violation.response.bytes, status: violation.status, body: violation.description)
    }
  }

  private static func checkQuery(_ request: HTTPRequest) throws(FuzzFinding) {
    _ = request.query("user")
    for item in request.queryItems {
      let first = request.queryItems.first { $0.name == item.name }
      try expect(
        request.query(item.name) == first?.value, "\(item.name) has two values in \(request)")
    }
  }

  private static func read(_ bytes: ArraySlice<UInt8>, _ limit: Int) -> Read<HTTPRequest> {
    do throws(HTTPViolation) {
      let read = try HTTPRequest.read(Array(bytes).span, headerLimitBytes: limit)
      return .success(read.map { ($0.request, length: $0.length) })
    } catch {
      return .failure(error)
    }
  }

  private static func isSame(_ a: Read<HTTPRequest>, _ b: Read<HTTPRequest>) -> Bool {
    switch (a, b) {
    case (.success(nil), .success(nil)): true
    case (.success(let a?), .success(let b?)): a == b
    case (.failure(let a), .failure(let b)): a == b
    default: false
    }
  }

  private static func checkWrittenAgain(_ request: HTTPRequest) throws(FuzzFinding) {
    var text = "\(request.method) \(request.target) HTTP/1.1\r\n"
    for field in request.headers.fields { text += "\(field.name): \(field.value)\r\n" }
    let again = read(Array("\(text)\r\n".utf8)[...], 0)
    guard case .success((let same, let length)?) = again else {
      throw FuzzFinding(description: "\(request) is not read when it is written: \(again)")
    }
    try expect(same == request, "\(request) is read as \(same)")
    try expect(length == text.utf8.count + 2, "the head has another length")
    try expect(request.target.hasPrefix(request.path), "the path is no part of the target")
  }

  // MARK: The server's side

  static func checkServer(_ input: inout FuzzInput) throws(FuzzFinding) {
    let choice = input.choice()
    let ours = protocols[Int(choice & 3)]
    guard case .success((let request, _)?) = read(input.rest, 0) else { return }
    switch ServerHandshake.answer(
      request, subprotocols: ours, compresses: choice & 4 != 0)
    {
    case .accept(let response, let chosen, let agreement):
      guard let key = request.headers.only("Sec-WebSocket-Key"), let nonce = Base64.decode(key)
      else { throw FuzzFinding(description: "accepted without a key") }
      try expect(Base64.encode(nonce) == key, "the key \(key) is not the only one for its bytes")
      let offered = request.headers.list("Sec-WebSocket-Protocol")
      try expect(
        chosen.map { offered.contains($0) && ours.contains($0) } ?? true,
        "\(chosen ?? "") was not offered")
      var client = ClientHandshake(
        host: request.host, target: request.target, subprotocols: offered,
        deflate: agreement.map { [offer(meaning: $0)] } ?? [], nonce: nonce)
      let bytes = response.bytes
      guard let read = try? client.read(bytes.span, headerLimitBytes: 8192) else {
        throw FuzzFinding(description: "the client does not accept the server's response")
      }
      try expect(
        read.subprotocol == chosen && read.deflate == agreement
          && read.length == bytes.count,
        "the client reads \(read) out of \(bytes.count) bytes")
    case .refuse(let response):
      let reason = String(decoding: response.body.dropLast(), as: UTF8.self)
      try checkRefusal(response.bytes, status: response.status, body: reason)
    }
  }

  /// An offer that leads to this; what a client says of its own window does not show in it.
  private static func offer(meaning agreement: DeflateAgreement) -> DeflateParameters {
    var offer = DeflateParameters()
    offer.serverNoContextTakeover = !agreement.serverKeepsContext
    if agreement.serverWindowBits < 15 { offer.serverMaxWindowBits = agreement.serverWindowBits }
    offer.clientMaxWindowBits = 15
    return offer
  }

  /// A client reads the status and the reason of a refusal.
  private static func checkRefusal(
    _ response: [UInt8], status: Int, body: String
  ) throws(FuzzFinding) {
    let client = ClientHandshake(host: "a", target: "/", nonce: nonce)
    let read = Answer(client, response[...], 8192, atEnd: false)
    try expect(
      read == .failed(.refused(status: status, body: body)), "status \(status) is read as \(read)")
  }

  // MARK: The client's side

  static func checkClient(_ input: inout FuzzInput) throws(FuzzFinding) {
    let choice = input.choice()
    let limit = headerLimits[Int(choice & 3)]
    let offered = protocols[Int(choice >> 2 & 3)]
    let atEnd = choice & 0x10 != 0
    let offers = choice & 0x20 != 0 ? DeflateParameters.clientOffers : []
    let seed = input.choice()
    let bytes = Array(input.rest)
    let client = ClientHandshake(
      host: "a", target: "/ws", subprotocols: offered, deflate: offers,
      headers: [(name: "Authorization", value: "Bearer t")], nonce: nonce)
    let whole = Answer(client, bytes[...], limit, atEnd: atEnd)

    var end = 0
    for piece in Cuts(bytes[...], seed: seed) {
      end += piece.count
      let part = Answer(client, bytes[..<end], limit, atEnd: false)
      if part == .unfinished { continue }
      try expect(part.agrees(with: whole), "after \(end) bytes it is \(part), and later \(whole)")
      break
    }
    switch whole {
    case .opened(let opening):
      let (length, chosen) = (opening.length, opening.subprotocol)
      try expect(limit == 0 || length <= limit, "a head of \(length) bytes is read")
      try expect(opening.deflate == nil || !offers.isEmpty, "compression was not offered")
      try expect(chosen.map(offered.contains) ?? true, "\(chosen ?? "") was not offered")
    case .failed(.refused(let status, let body)):
      try expect(status != 101, "101 is no refusal")
      // Undecodable bytes grow to three each.
      try expect(
        body.utf8.count <= 3 * ClientHandshake.bodyLimitBytes,
        "\(body.utf8.count) bytes are kept of a body")
      try checkWritten(status, body)
    case .failed(let failure): _ = failure.description
    case .unfinished: break
    }
    try checkOwnRequest(client, offered, deflates: !offers.isEmpty)
  }

  /// A refusal that our server writes is read as it was meant.
  private static func checkWritten(_ status: Int, _ body: String) throws(FuzzFinding) {
    let hasContent = status >= 200 && status != 204 && status != 304
    guard body.utf8.count < ClientHandshake.bodyLimitBytes else { return }
    let response = HTTPResponse(status: status, text: body)
    try checkRefusal(response.bytes, status: status, body: hasContent ? body : "")
  }

  /// Our server accepts the requests of our client.
  private static func checkOwnRequest(
    _ client: ClientHandshake, _ offered: [String], deflates: Bool
  ) throws(FuzzFinding) {
    guard case .success((let request, let length)?) = read(client.request[...], 0) else {
      throw FuzzFinding(description: "the server does not read the client's request")
    }
    try expect(length == client.request.count, "the request has another length")
    let answer = ServerHandshake.answer(request, subprotocols: offered, compresses: true)
    guard case .accept(let response, let chosen, let agreement) = answer else {
      throw FuzzFinding(description: "the server refuses the client's request")
    }
    try expect((agreement != nil) == deflates, "it is agreed: \(String(describing: agreement))")
    guard case .opened(let opening) = Answer(client, response.bytes[...], 8192, atEnd: false) else {
      throw FuzzFinding(description: "the client refuses the server's response")
    }
    try expect(opening.deflate == agreement, "client and server agreed on different parameters")
    try expect(chosen == offered.first, "the preferred subprotocol was not chosen")
  }

  private enum Answer: Equatable {
    case unfinished
    case opened(ClientHandshake.Opening)
    case failed(HandshakeFailure)

    init(_ client: ClientHandshake, _ bytes: ArraySlice<UInt8>, _ limit: Int, atEnd: Bool) {
      do throws(HandshakeFailure) {
        var client = client
        let read = try client.read(Array(bytes).span, headerLimitBytes: limit, atEnd: atEnd)
        self = read.map(Answer.opened) ?? .unfinished
      } catch {
        self = .failed(error)
      }
    }

    /// A later reading may have more of a refusal's body.
    func agrees(with later: Answer) -> Bool {
      guard case .failed(.refused(let status, _)) = self,
        case .failed(.refused(let laterStatus, _)) = later
      else { return self == later }
      return status == laterStatus
    }
  }
}
