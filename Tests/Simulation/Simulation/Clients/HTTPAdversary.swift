internal import Hostile
internal import Relay
internal import Wire

/// An adversary over HTTP: requests of every kind, complete, partial and pipelined, for existing
/// and other paths, with content whose length is right or wrong.
final class HTTPAdversary: Participant {
  let name: String
  var user: String { plot.user }
  var end: ClientEnd? { nil }
  private var http: HTTPEnd?
  private unowned let world: Simulation
  private let plot: Plot
  private let index: Int
  private var acts = true
  private var nextAct: Int64

  init(_ plot: Plot, _ world: Simulation) {
    name = "\(plot.user)/http"
    self.plot = plot
    self.world = world
    index = world.clients.count
    nextAct = world.now.monotonic + world.pick(0...300)
  }

  var linkEnd: (any LinkEnd)? { http }

  func turn() {
    let now = world.now.monotonic
    takeEvents()
    if acts, nextAct <= now {
      if http == nil { http = world.connectLink(user, kind: .hostile).map(HTTPEnd.init) }
      if let http, http.output.count < 30_000 { act(on: http) }
      nextAct = now + world.pick(1...200)
    }
    http?.flush(world)
    schedule(index, at: [acts ? nextAct : now + 3000], in: world, pause: 1)
  }

  private func takeEvents() {
    guard let current = http else { return }
    for event in current.receive(now: world.now.monotonic) {
      guard case .lost = event else { continue }
      world.referee.tally.count(.attackerDropped)
      drop()
      return
    }
  }

  private func drop() {
    if let http { world.abandon(http.link) }
    http = nil
  }

  /// The number of bytes with which a long head still drips.
  private var drips = 0

  private func act(on http: HTTPEnd) {
    world.referee.tally.count(.attackMessage)
    if drips > 0 {
      drips -= 1
      return http.send(raw: [UInt8(ascii: "x")])
    }
    if world.chance(3) {
      // The relay must not look at all of it again for each byte that follows.
      drips = 40
      let lines = String(repeating: "a:\r\n", count: 1500)
      return http.send(raw: Array("GET / HTTP/1.1\r\nHost: relay\r\n\(lines)x".utf8))
    }
    let method = pick(["GET", "POST", "POST", "HEAD", "OPTIONS", "DELETE", "PRI"])
    // The path decides in which room it is stored: settings would take a new room from the honest clients.
    var content: [UInt8]
    repeat {
      content = plot.message()
    } while String(decoding: content, as: UTF8.self).contains(
      "\"settings\"")
    for room in rooms { recordSent(content, to: room) }
    if world.chance(20) {
      if case .send(let send) = try? ClientMessage(decoding: content.span, textLimitBytes: 0) {
        world.referee.recordSent(send, by: user)
      }
      content = [UInt8(ascii: "[")] + content + [UInt8(ascii: "]")]
    }
    let isAsked = method == "POST" || world.chance(10)
    var bytes = Array(
      "\(method) \(target(http.link)) HTTP/1.1\r\nHost: \(pick(["relay", "", "[", "a:b:c"]))\r\n"
        .utf8)
    for field in fields { bytes += Array("\(field)\r\n".utf8) }
    if isAsked {
      let length = pick([
        "\(content.count)", "\(content.count)", "\(content.count)", "0", "-1", "65537", "1e3",
        "18446744073709551616",
      ])
      bytes += Array("Content-Type: application/json\r\nContent-Length: \(length)\r\n".utf8)
    }
    bytes += Array("\r\n".utf8)
    if isAsked { bytes += content }
    // Some requests end in the middle.
    let count =
      world.chance(85) ? bytes.count : Int.random(in: 0...bytes.count, using: &world.random)
    http.send(raw: Array(bytes.prefix(count)))
    if world.chance(20) { drop() }
  }

  /// Records the send that the content is as a post to `room`, whatever type and room it contains:
  /// the path decides.
  private func recordSent(_ content: [UInt8], to room: String) {
    guard content.last == UInt8(ascii: "}") else { return }
    let json = content.dropLast() + Array(#","type":"send","room":"\#(room)"}"#.utf8)
    guard case .send(let send) = try? ClientMessage(decoding: Array(json).span, textLimitBytes: 0)
    else { return }
    world.referee.recordSent(send, by: user)
  }

  private var rooms: [String] {
    Simulation.rooms + Simulation.dens + ["x-\(user)", "dm:\(user):u0", "x-none"]
  }

  private func target(_ link: Link) -> String {
    let room = pick(rooms + ["", "..", "%2e%2e", "%00", String(repeating: "a", count: 300)])
    let number = pick(HostileGrammar.extremes)
    let id = pick(["x.1", "x.1.2~", ".", "x.-", "x.9999999999999999", "\(name).1~~", "%00"])
    let place = pick([
      "/v1/rooms/\(room)/messages", "/v1/rooms/\(room)/messages", "/v1/people", "/v1/avatars/u0",
      "/v1/rooms", "/v1/stream", "/v1/stream", "/v1/requests",
      "/readyz",
      "/healthz", "/metrics", "/ws", "/echo", "/", "*", "//", "/v1/rooms/\(room)",
    ])
    let who = pick([link.query, link.query, "user=\(user)", "user=u0%00", "", "token=x"])
    return "\(place)?\(who)&limit=\(number)&before=\(number)&fold=\(number)&cursor=nobody@\(number)"
      + "&room=\(room)&after=\(number)&epoch=x&room=a&wait_s=\(pick(["1", "60", number]))"
      + (world.chance(30) ? "&last_event_id=\(id)" : "")
  }

  private var fields: [String] {
    [
      "Connection: close", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Expect: 100-continue", "Origin: http://evil",
      "Transfer-Encoding: chunked", "Authorization: Bearer x", "If-None-Match: *", "X: \(name)",
    ].filter { _ in world.chance(10) }
  }

  private func pick(_ choices: [String]) -> String {
    choices.randomElement(using: &world.random) ?? ""
  }

  func stopActing() {
    acts = false
    drop()
  }

  var isIdle: Bool { true }
  func checkIdle() {}
}
