import Relay
import Synchronization
import Testing
import WebSocket
import Wire

@testable import Gateway

/// A loop with a log in memory.
private struct Harness {
  let loop: ArrayLoop
  /// The part of a query that names the user.
  private let parameter: String

  /// Publishes from the log to the loop.
  private final class Inbox: Sendable {
    let deliveries = Mutex<[LogDelivery]>([])
  }

  init(authenticator: Authenticator = Authenticator(verify: nil, botUsers: [])) {
    loop = ArrayLoop(authenticator: authenticator)
    parameter = authenticator.takesTokens ? "token" : "user"
    let inbox = Inbox()
    let log = MemoryLog(
      epoch: "first", retention: Retention(), clock: { 1_763_650_000_000 },
      microseconds: { 1_000_400 })
    log.start(loops: 1, framing: .webSocket) { _, delivery in
      inbox.deliveries.withLock { $0.append(delivery) }
    }
    let world = loop.world
    world.onSubmit = { [unowned world] requests in
      log.submit(requests, from: 0)
      let deliveries = inbox.deliveries.withLock { deliveries in
        defer { deliveries = [] }
        return deliveries
      }
      world.mail += deliveries.map { .log($0) }
    }
  }

  func request(
    _ target: String, method: String = "GET", content: String? = nil, fields: [String] = [],
    from peer: ServerConnection.Peer = .client, host: String = "localhost"
  ) -> (status: Int, content: String) {
    let stream = loop.connect(as: peer)
    var fields = fields + ["Host: \(host)"]
    if let content {
      fields += ["Content-Type: application/json", "Content-Length: \(content.utf8.count)"]
    }
    let head = "\(method) \(target) HTTP/1.1\r\n" + fields.map { "\($0)\r\n" }.joined() + "\r\n"
    let answer = loop.send((head + (content ?? "")).utf8, on: stream)
    loop.loop.remove(stream: stream)
    let status = Int(answer.dropFirst(9).prefix(3)) ?? 0
    return (
      status, String(answer[(answer.firstRange(of: "\r\n\r\n")?.upperBound ?? answer.endIndex)...])
    )
  }

  func post(_ id: String, as user: String, to room: String = "r") {
    let content = #"{"id":"\#(id)","text":"hi"}"#
    let answer = request(
      "/v1/rooms/\(room)/messages?\(parameter)=\(user)", method: "POST", content: content)
    #expect(answer.status == 201)
  }

  func trace(
    _ entry: String, room: String = "r", as user: String? = nil, by: String? = nil,
    from peer: ServerConnection.Peer = .client, fields: [String] = []
  ) -> (status: Int, content: String) {
    let query = [user.map { "user=\($0)" }, by.map { "by=\($0)" }].compactMap(\.self)
    return request(
      "/v1/rooms/\(room)/messages/\(entry)/trace?\(query.joined(separator: "&"))",
      fields: fields, from: peer)
  }

  /// Opens a WebSocket.
  func connect(as user: String) -> Int {
    let stream = loop.connect()
    loop.send(
      """
      GET /ws?user=\(user) HTTP/1.1\r
      Host: relay\r
      Upgrade: websocket\r
      Connection: Upgrade\r
      Sec-WebSocket-Version: 13\r
      Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r
      \r

      """.utf8, on: stream)
    return stream
  }

  /// Sends a message of at most 125 bytes on a WebSocket, with a mask of zeros.
  func send(_ json: String, on stream: Int) {
    loop.send([0x81, 0x80 | UInt8(json.utf8.count), 0, 0, 0, 0] + Array(json.utf8), on: stream)
  }
}

@Suite struct `The list of connections` {
  private let relay = Harness()

  @Test func `has two hundred, and the number of all`() {
    for number in 0..<250 { _ = relay.connect(as: "u\(number)") }
    let answer = relay.request("/v1/connections", from: .operator)
    #expect(answer.status == 200)
    let list = JSONNode(Array(answer.content.utf8))
    #expect(list?["total"]?.integer == 250)
    #expect(list?["connections"]?.elements?.count == 200)
    #expect(relay.request("/v1/connections?user=u1").status == 403)
  }

  private func connections() -> [JSONNode] {
    let answer = relay.request("/v1/connections", from: .operator)
    return JSONNode(Array(answer.content.utf8))?["connections"]?.elements ?? []
  }

  private func end(_ name: String) -> Int {
    relay.request("/v1/connections/\(name)", method: "DELETE", from: .operator).status
  }

  @Test func `names each, and ends the one that an operator names, once`() throws {
    let streams = ["ada", "bo"].map { relay.connect(as: $0) }
    let ada = try #require(connections().first { $0["user"]?.string == "ada" })
    let name = try #require(ada["connection"]?.string)
    #expect(end(name) == 204)
    #expect(connections().map { $0["user"]?.string } == ["bo"])
    let said = String(decoding: relay.loop.world.streams[streams[0]]?.output ?? [], as: UTF8.self)
    #expect(said.contains("An operator of the relay has ended this connection."))
    #expect(said.contains("not authenticated"))
    #expect(end(name) == 404)
    let acts = relay.loop.world.submitted.compactMap { request in
      if case .act(let act, _) = request { act } else { nil }
    }
    #expect(acts == [Act(by: "sys", verb: "end_connection", user: "ada")])
  }

  @Test(arguments: [
    "", ".", "..", "a.b", "0.0.0", "NAME.-1.1", "NAME.2147483647.1", "NAME.0.0",
    "NAME.0.4294967295",
    "NAME.0.1.", "NAME.99999999999.1", "%00.0.1",
  ])
  func `is not found by a name that no connection has`(name: String) throws {
    _ = relay.connect(as: "ada")
    let known = try #require(connections().first?["connection"]?.string)
    let loop = known.prefix { $0 != "." }
    #expect([404, 405].contains(end(name.replacing("NAME", with: loop))))
    #expect(connections().count == 1)
  }
}

@Suite struct `A trace over HTTP` {
  private let relay = Harness()

  @Test func `of the relay's own records is for no client that claims its name`() {
    #expect(relay.request("/v1/rooms/sys:reports/messages/1/trace?user=sys").status == 403)
    #expect(relay.request("/v1/rooms/r/messages?user=sys").status == 403)
  }

  @Test func `is JSON, with times relative to the first`() {
    relay.post("a1", as: "ada")
    let answer = relay.trace("1", as: "ada")
    #expect(answer.status == 200)
    #expect(
      answer.content == """
        {"room":"r","seq":1,"from":"ada","received_at":1763650000000,"batched_ms":0.400,\
        "committed_ms":0.400,"synced_ms":0.400,"batch_entries":1,"fanned_out":[],"members":1,\
        "received_by":[],"read_by":[]}
        """)
  }

  @Test func `names the loops that fanned out, and the members that have read`() {
    let reader = relay.connect(as: "bo")
    relay.send(#"{"type":"join","room":"r"}"#, on: reader)
    relay.post("a1", as: "ada")
    relay.loop.pass(milliseconds: 250)
    relay.send(#"{"type":"read","room":"r","seq":1}"#, on: reader)
    let answer = relay.trace("1", as: "ada")
    #expect(answer.content.contains(#""fanned_out":[{"loop":0,"ms":"#))
    #expect(answer.content.contains(#","connections":1,"lagging":0}]"#))
    #expect(
      answer.content.hasSuffix(
        #""members":2,"received_by":[{"user":"bo","ms":0.400}],"read_by":[{"user":"bo","ms":0.400}]}"#
      ))
  }

  @Test func `is for the sender, by number and by id`() {
    relay.post("a1", as: "ada")
    relay.post("7", as: "ada")
    #expect(relay.trace("a1", as: "ada").content.contains(#""seq":1,"#))
    // Digits are a number, unless the query says otherwise.
    #expect(relay.trace("7", as: "ada").status == 404)
    #expect(relay.trace("7", as: "ada", by: "id").content.contains(#""seq":2,"#))
    #expect(relay.trace("1", as: "bo").status == 403)
    #expect(relay.trace("a1", as: "bo").status == 404)
    #expect(relay.trace("3", as: "ada").status == 404)
  }

  @Test func `tells a user without access to the room nothing about it`() {
    relay.post("a1", as: "ada", to: "dm:ada:bo")
    let existing = relay.trace("1", room: "dm:ada:bo", as: "eve")
    #expect(existing.status == 403)
    #expect(relay.trace("2", room: "dm:ada:bo", as: "eve") == existing)
    #expect(relay.trace("1", room: "dm:ada:bo", as: "bo").status == 403)
    #expect(relay.trace("a1", room: "dm:ada:bo", as: "ada").status == 200)
  }

  @Test func `is for the operator's socket, where no credentials are needed`() {
    relay.post("a1", as: "ada")
    #expect(relay.trace("1").status == 401)
    #expect(relay.trace("1", from: .operator).status == 200)
    #expect(relay.trace("a1", from: .operator).status == 200)
    #expect(relay.trace("2", from: .operator).status == 404)
    // With a name it is that user's request.
    #expect(relay.trace("1", as: "bo", from: .operator).status == 403)
  }

  @Test func `is for an operator's token from anywhere, and for the sender's`() {
    let authenticator = Authenticator(
      verify: { token, _, _ in Identity(user: token) }, botUsers: [], operators: ["root"])
    let relay = Harness(authenticator: authenticator)
    relay.post("a1", as: "ada")
    func status(_ token: String) -> Int {
      relay.trace("1", fields: ["Authorization: Bearer \(token)"]).status
    }
    #expect(status("ada") == 200)
    #expect(status("root") == 200)
    #expect(status("bo") == 403)
  }

  @Test(arguments: [
    ("/v1/rooms/Room/messages/1/trace", "room"),
    ("/v1/rooms/r/messages/99999999999999999999/trace", "seq"),
    ("/v1/rooms/r/messages/%00/trace", "id"),
    ("/v1/rooms/r/messages//trace", "id"),
    ("/v1/rooms/r/messages/1/trace?by=seq", "by"),
  ])
  func `names the part of the request that is wrong`(target: String, field: String) {
    let answer = relay.request(target, from: .operator)
    #expect(answer.status == 400)
    #expect(answer.content.contains(#""field":"\#(field)""#))
  }

  @Test func `only reads`() {
    #expect(
      relay.request("/v1/rooms/r/messages/1/trace?user=ada", method: "POST", content: "{}").status
        == 405)
    #expect(
      relay.request("/v1/rooms/r/messages/1/trace?user=ada", method: "OPTIONS").status == 204)
  }

  @Test func `counts against the user's requests`() {
    relay.post("a1", as: "ada")
    var statuses: [Int] = []
    for _ in 0..<1000 where statuses.last != 429 {
      statuses.append(relay.trace("1", as: "ada").status)
    }
    #expect(statuses.first == 200)
    #expect(statuses.last == 429)
  }
}
