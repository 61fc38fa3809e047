import Mixing
import Platform
import Testing

@testable import Client

@Suite struct `Device login, RFC 8628` {
  private static let relay = try? RelayURL("wss://chat.example.org/ws")
  private static let link = "https://chat.example.org/sign-in/device"

  /// A login, and the clock of its executor.
  private struct World {
    var login: DeviceLogin
    var now = Instant(nanoseconds: 1_000_000_000)

    init(device: String = "wschat on den") throws {
      login = DeviceLogin(relay: try #require(relay), device: device)
    }

    /// Waits as it is told, and returns the next request; `nil` at the end.
    mutating func request() -> DeviceLogin.Request? {
      while true {
        switch login.next(at: now) {
        case .send(let request): return request
        case .wait(let until): now = until
        case .none: return nil
        }
      }
    }

    mutating func answer(_ status: Int, _ body: String) {
      login.take(.http(status: status, body: Array(body.utf8)), at: now)
    }

    /// Goes on until the relay has given a code.
    mutating func begin(_ code: String = DeviceLoginTestCode.json()) {
      _ = request()
      answer(200, #"{"mode":"accounts","methods":[{"method":"invite"}]}"#)
      _ = request()
      answer(200, code)
    }

    mutating func refuse(_ error: String) { answer(400, #"{"error":"\#(error)"}"#) }

    /// The seconds until the next request; `nil` if none follows.
    mutating func pause() -> Int? {
      let before = now
      return request().map { _ in now.milliseconds(since: before) / 1000 }
    }
  }

  private func shownCode(_ state: DeviceLogin.State) -> DeviceCode? {
    if case .waiting(let code, _) = state { code } else { nil }
  }

  private func problem(_ state: DeviceLogin.State) -> String? {
    if case .waiting(_, let problem) = state { problem } else { nil }
  }

  private func failure(_ state: DeviceLogin.State) -> String? {
    if case .ended(.failed(let reason)) = state { reason } else { nil }
  }

  // MARK: The way to a session

  @Test func `it asks for the mode, for a code, and for the token with that code`() throws {
    var world = try World(device: "wschat on \"den\"\n\u{1B}[2Jé")
    #expect(world.request() == .get("v1/sign-in"))
    // Nothing else before the answer.
    #expect(world.login.next(at: world.now) == .none)
    world.answer(200, #"{"mode":"accounts","methods":[]}"#)
    #expect(
      world.request() == .post("v1/device", Array(#"{"device":"wschat on \"den\"??[2J??"}"#.utf8)))
    world.answer(200, DeviceLoginTestCode.json())
    let code = try #require(shownCode(world.login.state))
    #expect(code.userCode == "WDJB-MJHT")
    #expect(code.link == Self.link)
    #expect(code.completeLink == "\(Self.link)?code=WDJB-MJHT")
    #expect(!code.isForeign)
    #expect(code.qr == ["01", "10"])
    #expect(
      world.request() == .post("v1/device/token", Array(#"{"device_code":"secret"}"#.utf8)))
    world.refuse("authorization_pending")
    _ = world.request()
    world.answer(200, #"{"token":"t-1","user":"ada","session":"s1"}"#)
    let grant = try #require(DeviceGrant(user: "ada", session: "s1", token: "t-1"))
    #expect(world.login.state == .ended(.signedIn(grant)))
    #expect(world.request() == nil)
  }

  @Test(arguments: [("open", DeviceLogin.Mode.open), ("jwt", .jwt)])
  func `a relay in another mode gives no code`(name: String, mode: DeviceLogin.Mode) throws {
    var world = try World()
    _ = world.request()
    world.answer(200, #"{"mode":"\#(name)","methods":[]}"#)
    #expect(world.login.state == .ended(.notOffered(mode: mode)))
    #expect(world.request() == nil)
  }

  @Test(arguments: [
    (404, "", "it has no sign-in"), (200, "<html>", "it has no sign-in"),
    (200, #"{"mode":"magic"}"#, "not known"), (302, "", "HTTP status 302"),
    (429, #"{"detail":"Too many sign-ins."}"#, "Too many sign-ins."),
  ])
  func `what is no answer ends it with the reason`(status: Int, body: String, reason: String) throws
  {
    var world = try World()
    _ = world.request()
    world.answer(status, body)
    #expect(failure(world.login.state)?.contains(reason) == true)
  }

  @Test func `without a connection before the code it ends, and says why`() throws {
    for requests in 1...2 {
      var world = try World()
      _ = world.request()
      if requests == 2 {
        world.answer(200, #"{"mode":"accounts"}"#)
        _ = world.request()
      }
      world.login.take(.none("no route"), at: world.now)
      #expect(world.login.state == .ended(.unreachable("no route")))
    }
  }

  // MARK: What a hostile relay answers

  @Test(arguments: [
    #"{"user_code":"\u001b[2J"}"#, #"{"user_code":""}"#, #"{"user_code":"a b"}"#,
    #"{"user_code":"WDJB-MJHT-WDJB-MJHT-WDJB-MJHT-WDJB"}"#, #"{"user_code":7}"#,
    #"{"verification_uri":"javascript:alert(1)"}"#, #"{"verification_uri":"ftp://a/"}"#,
    #"{"verification_uri":"https:80"}"#, #"{"verification_uri":"https://a b/"}"#,
    #"{"verification_uri":"https://chat.example.org/\u001b]0;x\u0007"}"#,
    #"{"verification_uri":"https://chat.example.org/\u202e"}"#,
    #"{"verification_uri":"https://ada:pw@chat.example.org/"}"#,
    #"{"verification_uri_complete":"file:///etc/passwd"}"#, #"{"device_code":""}"#,
    #"{"expires_in":0}"#, #"{"expires_in":-5}"#, #"{"expires_in":"600"}"#, #"{"interval":-1}"#,
  ])
  func `a code or link that is no such is refused`(change: String) throws {
    var world = try World()
    world.begin(DeviceLoginTestCode.json(change))
    #expect(failure(world.login.state) == "its code or its link is no such")
    #expect(world.request() == nil)
  }

  @Test(arguments: [
    #"{"verification_uri":"https://chat.example.org.evil.example/x"}"#,
    #"{"verification_uri_complete":"https://evil.example/x"}"#,
    #"{"verification_uri":"http://chat.example.org/x"}"#,
    #"{"verification_uri":"https://chat.example.org:8443/x"}"#,
  ])
  func `a link to another origin is marked, and has no QR code`(change: String) throws {
    var world = try World()
    world.begin(DeviceLoginTestCode.json(change))
    let code = try #require(shownCode(world.login.state))
    #expect(code.isForeign)
    #expect(code.qr.isEmpty)
  }

  @Test(arguments: [
    ("wss://CHAT.example.org/ws", "https://chat.example.org:443/x"),
    ("ws://127.0.0.1:8080/ws", "http://localhost:8080/x"),
    ("ws://[::1]:8080/ws", "http://127.0.0.1:8080/x"),
  ])
  func `all names of this machine are one origin, and case and usual ports do not count`(
    relay: String, link: String
  ) throws {
    let json = DeviceLoginTestCode.json(
      #"{"verification_uri":"\#(link)","verification_uri_complete":"\#(link)"}"#)
    #expect(DeviceCode(Array(json.utf8), of: try RelayURL(relay))?.isForeign == false)
  }

  @Test(arguments: [
    "", "a b", "\\u001b[2J", "\\r\\nX-Header: 1", String(repeating: "t", count: 4097),
  ])
  func `a token that would not fit into a header is refused`(token: String) throws {
    var world = try World()
    world.begin()
    _ = world.request()
    world.answer(200, #"{"token":"\#(token)","user":"ada","session":"s1"}"#)
    #expect(failure(world.login.state) == "its answer has no valid token")
  }

  @Test func `neither are a user or a session that are no such`() {
    #expect(DeviceGrant(user: "Ada/..", session: "s1", token: "t") == nil)
    #expect(DeviceGrant(user: "ada", session: "../invites", token: "t") == nil)
  }

  // MARK: When it asks

  @Test func `it waits for the interval, from the start, and slow_down adds five seconds`() throws {
    var world = try World()
    world.begin(DeviceLoginTestCode.json(#"{"interval":7}"#))
    #expect(world.pause() == 7)
    world.refuse("authorization_pending")
    #expect(world.pause() == 7)
    world.refuse("slow_down")
    #expect(world.pause() == 12)
    world.refuse("authorization_pending")
    #expect(world.pause() == 12)
    world.refuse("slow_down")
    #expect(world.pause() == 17)
  }

  @Test func `without an interval it is five seconds, and never less than one`() throws {
    var world = try World()
    world.begin(DeviceLoginTestCode.json(#"{"interval":null}"#))
    #expect(world.pause() == 5)
    var hasty = try World()
    hasty.begin(DeviceLoginTestCode.json(#"{"interval":0}"#))
    #expect(hasty.pause() == 1)
  }

  @Test func `it backs off while there is no answer, says why, and asks as before afterwards`()
    throws
  {
    var world = try World()
    world.begin(DeviceLoginTestCode.json(#"{"interval":5,"expires_in":3600}"#))
    _ = world.request()
    var pauses: [Int?] = []
    for _ in 0..<5 {
      world.login.take(.none("timed out"), at: world.now)
      #expect(problem(world.login.state) == "timed out")
      pauses.append(world.pause())
    }
    #expect(pauses == [10, 20, 40, 60, 60])
    world.answer(503, #"{"detail":"The relay is starting."}"#)
    #expect(problem(world.login.state) == "The relay is starting.")
    #expect(world.pause() == 60)
    world.refuse("authorization_pending")
    #expect(problem(world.login.state) == nil)
    #expect(world.pause() == 5)
  }

  @Test func `it stops when the code has expired, by its clock or the relay's`() throws {
    var world = try World()
    world.begin(DeviceLoginTestCode.json(#"{"interval":5,"expires_in":12}"#))
    let begun = world.now
    for _ in 0..<2 {
      #expect(world.pause() == 5)
      world.refuse("authorization_pending")
    }
    #expect(world.request() == nil)
    #expect(world.login.state == .ended(.expired))
    #expect(world.now.milliseconds(since: begun) == 12_000)
    var other = try World()
    other.begin()
    _ = other.request()
    other.refuse("expired_token")
    #expect(other.login.state == .ended(.expired))
  }

  @Test func `it ends when the user refuses, or the relay does`() throws {
    for (error, outcome) in [
      ("access_denied", DeviceLogin.Outcome.denied),
      ("invalid_grant", .failed("it answers with HTTP status 400")),
    ] {
      var world = try World()
      world.begin()
      _ = world.request()
      world.refuse(error)
      #expect(world.login.state == .ended(outcome))
      #expect(world.request() == nil)
    }
  }

  /// Whatever the relay answers, and however irregularly `next` is called.
  @Test(arguments: 1...200)
  func `it never asks sooner than the interval allows`(seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed))
    var world = try World()
    var least = Int.random(in: 0...20, using: &random)
    world.begin(DeviceLoginTestCode.json(#"{"interval":\#(least),"expires_in":900}"#))
    least = max(1, least)
    let begun = world.now
    var last = world.now
    while world.now.milliseconds(since: begun) < 1_000_000 {
      switch world.login.next(at: world.now) {
      case .none: return #expect(world.login.state == .ended(.expired))
      case .wait(let until):
        #expect(until > world.now)
        // Sometimes too early, sometimes late.
        world.now = world.now.adding(milliseconds: Int.random(in: 0...30_000, using: &random))
      case .send:
        #expect(world.now.milliseconds(since: last) >= 1000 * least)
        #expect(world.now.milliseconds(since: begun) < 900_000)
        world.now = world.now.adding(milliseconds: Int.random(in: 0...10_000, using: &random))
        switch Int.random(in: 0...3, using: &random) {
        case 0: world.refuse("authorization_pending")
        case 1: world.login.take(.none("timed out"), at: world.now)
        case 2: world.answer(500, "")
        default:
          world.refuse("slow_down")
          least += 5
        }
        last = world.now
      }
    }
    Issue.record("the code has not expired")
  }
}

/// An answer to `POST /v1/device`, with other members.
enum DeviceLoginTestCode {
  static func json(_ change: String = "{}") -> String {
    let link = "https://chat.example.org/sign-in/device"
    // Of members with one name, the last counts.
    return #"{"device_code":"secret","user_code":"WDJB-MJHT","verification_uri":"\#(link)","#
      + #""verification_uri_complete":"\#(link)?code=WDJB-MJHT","interval":5,"expires_in":600,"#
      + #""qr":["01","10"]"# + (change == "{}" ? "}" : ",\(change.dropFirst())")
  }
}
