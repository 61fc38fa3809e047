import ShardWorld
import Testing
import Wire

@testable import Relay

/// Tokens in these tests are plain text: `user|join|send|seconds`; an empty field means no limit.
@Suite struct `A shard, tokens and rights` {
  private static let start: Int64 = 1_763_650_000_000

  private func relay(
    _ configure: (inout Shard.Configuration) -> Void = unlimited
  ) -> SimulatedRelay {
    SimulatedRelay {
      configure(&$0)
      $0.verifyToken = { token, wall throws(WireError) in
        let parts = token.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4 else { throw WireError(.unauthorized, "No such token.") }
        if parts[0] == "eve" { throw WireError.banned("eve") }
        if parts[0] == "later" {
          throw WireError(.unavailable, "No keys.", re: .auth, retryAfterMilliseconds: 1000)
        }
        func list(_ text: String) -> [String]? {
          text.isEmpty ? nil : text.split(separator: ",").map(String.init)
        }
        return Identity(
          user: parts[0], rights: Rights(join: list(parts[1]), send: list(parts[2])),
          expires: Int64(parts[3]).map { Self.start + $0 * 1000 })
      }
    }
  }

  private func client(_ relay: SimulatedRelay, _ token: String) -> SimulatedSocket {
    let socket = relay.connect(nil)
    socket.send(.auth(token: token))
    relay.run()
    return socket
  }

  @Test func `the first message authenticates, and the messages after it are served`() {
    let relay = relay()
    let socket = relay.connect(nil)
    socket.send(.auth(token: "ada|||60"))
    socket.join("r")
    relay.run()
    let messages = socket.take()
    guard case .welcome(let welcome)? = messages.first else {
      Issue.record("\(messages)")
      return
    }
    #expect(welcome.user == "ada")
    #expect(welcome.expiresInMilliseconds == 60_000)
    #expect(messages.joined.map(\.room) == ["r"])
    let endless = client(relay, "bo|||").take()
    guard case .welcome(let welcome)? = endless.first else { return }
    #expect(welcome.expiresInMilliseconds == nil)
  }

  @Test(arguments: [
    ("ada|||", "dm:ada:bo"), ("ada||team|", "dm:ada:bo"), ("ada|*||", nil),
    ("ada|dm:ada:bo||", nil),
  ])
  func `people names the direct room if the token allows joining it`(token: String, room: String?)
    throws
  {
    let relay = relay {
      unlimited(&$0)
      $0.bots = [("bo", "Bo")]
    }
    let ada = client(relay, token)
    ada.send(.people(.init()))
    ada.join("dm:ada:bo")
    relay.run()
    let messages = ada.take()
    let pages = messages.compactMap { if case .people(let page) = $0 { page } else { nil } }
    #expect(pages.map { $0.people.map(\.room) } == [[room]])
    #expect(messages.joined.isEmpty == (room == nil))
  }

  @Test(arguments: [
    (ClientMessage.auth(token: "x"), ErrorCode.unauthorized, UInt16(4401)),
    (.rooms(.init()), .unauthorized, 4401), (.auth(token: "eve|||"), .forbidden, 4403),
  ])
  func `an unauthenticated or rejected session gets an error and is closed`(
    message: ClientMessage, code: ErrorCode, close: UInt16
  ) {
    let relay = relay()
    let socket = relay.connect(nil)
    socket.send(message)
    socket.send(.auth(token: "ada|||"))
    relay.run()
    #expect(socket.take().errors.map(\.code) == [code])
    #expect(socket.closeCode == close)
    #expect(!socket.saidMoreAfterClose)
  }

  @Test func `rooms beyond the rights are forbidden, for joins and sends separately`() {
    let relay = relay()
    let ada = client(relay, "ada|a*|s|")
    _ = ada.take()
    for room in ["a1", "s", "dm:ada:bo"] {
      ada.join(room)
      ada.post(room, room)
      ada.send(.history(.init(room: room)))
    }
    relay.run()
    let answers = ada.take()
    #expect(answers.joined.map(\.room) == ["a1"])
    #expect(answers.acks.map(\.room) == ["s"])
    #expect(answers.pages.map(\.room) == ["a1"])
    let refused = answers.errors
    #expect(refused.allSatisfy { $0.code == .forbidden })
    #expect(
      refused.map { "\($0.type ?? "") \($0.room ?? "")" } == [
        "send a1", "join s", "history s", "join dm:ada:bo", "send dm:ada:bo", "history dm:ada:bo",
      ])
    #expect(refused[0].id == "a1")
    #expect(relay.shard { $0.mayRead("a1", ada.session.slot) })
    #expect(!relay.shard { $0.mayRead("s", ada.session.slot) })
  }

  @Test func `only entries that the user may read are forwarded`() {
    let relay = relay()
    let (ada, bo) = (client(relay, "ada|a*||"), client(relay, "bo|||"))
    for room in ["a", "b"] { bo.post(room, "said in \(room)") }
    relay.run()
    _ = ada.take()
    for room in ["a", "b"] {
      ada.send(.send(.init(room: "c", id: room, forward: Forward(room: room, seq: 1))))
    }
    relay.run()
    let answers = ada.take()
    #expect(answers.acks.map(\.id) == ["a"])
    #expect(answers.errors.map(\.code) == [.forbidden])
    #expect(answers.errors.first?.id == "b")
    #expect(answers.errors.first?.field == "forward")
  }

  @Test func `rooms and activity cover only rooms that the user may read`() {
    let limited = self.relay()
    let (ada, bo) = (client(limited, "ada|a||"), client(limited, "bo|||"))
    for room in ["a", "b"] {
      bo.post(room, "1-\(room)")
      ada.post(room, "2-\(room)")
    }
    ada.send(.rooms(.init()))
    limited.run()
    let listed = ada.take().compactMap { message -> [String]? in
      if case .rooms(let rooms, _) = message { rooms.map(\.room) } else { nil }
    }
    #expect(listed == [["a"]])
    // Sending to a room makes the user a member, who is told of its activity.
    ada.post("c", "3")
    limited.run()
    for room in ["a", "b", "c"] { bo.post(room, "4-\(room)") }
    limited.run(forMilliseconds: 3000)
    #expect(Set(ada.take().activity.map(\.room)) == ["a"])
  }

  @Test func `a token is renewed in place, and the old expiry no longer applies`() {
    let relay = relay()
    let ada = client(relay, "ada|||10")
    _ = ada.take()
    relay.run(forMilliseconds: 5000)
    ada.send(.auth(token: "ada|||100"))
    relay.run()
    #expect(ada.take() == [.renewed(expiresInMilliseconds: 95_000)])
    relay.run(forMilliseconds: 5000 + 30_000 + 60_000 + 29_999)
    #expect(ada.closeCode == nil)
    #expect(ada.take().isEmpty)
    relay.run(forMilliseconds: 1)
    #expect(ada.take().errors.map(\.code) == [.tokenExpired])
    #expect(ada.closeCode == 4401)
  }

  @Test func `a renewal whose token cannot be verified now is told to retry`() {
    let relay = relay()
    let ada = client(relay, "ada|||10")
    _ = ada.take()
    ada.send(.auth(token: "later|||"))
    relay.run()
    let told = ada.take().errors
    #expect(told.map(\.code) == [.unavailable])
    #expect(told.first?.message == "No keys. The old token stays valid.")
    #expect(told.first?.retryAfterMilliseconds == 1000)
    ada.send(.auth(token: "ada|||100"))
    relay.run()
    #expect(ada.take() == [.renewed(expiresInMilliseconds: 100_000)])
  }

  @Test func `a token that expires before the previous one ends the session earlier`() {
    let relay = relay()
    let ada = client(relay, "ada|||1000")
    ada.send(.auth(token: "ada|||5"))
    relay.run(forMilliseconds: 34_999)
    #expect(ada.closeCode == nil)
    relay.run(forMilliseconds: 1)
    #expect(ada.closeCode == 4401)
  }

  @Test func `a clock that is set forward is noticed within a minute`() {
    let relay = relay()
    let ada = client(relay, "ada|||86400")
    relay.now.wall += 2 * 86_400_000
    relay.run(forMilliseconds: 60_000)
    #expect(ada.closeCode == 4401)
  }

  @Test func `repeated renewals do not accumulate timers`() {
    let relay = relay()
    let ada = client(relay, "ada|||500")
    for round in 1...1000 {
      ada.send(.auth(token: round % 2 == 0 ? "ada|||500" : "ada|||20"))
    }
    relay.run()
    #expect(ada.take().count == 1001)
    #expect(relay.shard { $0.timerCount } <= 3)
  }

  @Test(arguments: ["x", "bo|||", "eve|||"])
  func `an invalid token, or one of another user, changes nothing`(token: String) {
    let relay = relay()
    let ada = client(relay, "ada|r||10")
    ada.join("r")
    ada.send(.auth(token: token))
    ada.join("q")
    ada.post("r", "1")
    relay.run()
    let messages = ada.take()
    #expect(messages.errors.map(\.code) == [.unauthorized, .forbidden])
    #expect(messages.errors.first?.re == .auth)
    #expect(messages.acks.count == 1)
    #expect(messages.entries.count == 1)
    relay.run(forMilliseconds: 40_000)
    #expect(ada.take().errors.map(\.code) == [.tokenExpired])
  }

  @Test func `a renewal counts as ten requests`() {
    let relay = relay { _ in }
    let ada = client(relay, "ada|||")
    _ = ada.take()
    for _ in 1...7 { ada.send(.auth(token: "x")) }
    ada.post("r", "1")
    relay.run()
    // After fifty requests the user is slowed, and the send waits its turn.
    #expect(ada.take().errors.map(\.code) == Array(repeating: .unauthorized, count: 5))
    relay.run(forMilliseconds: 200)
    #expect(ada.take().errors.count == 1)
    relay.run(forMilliseconds: 400)
    let messages = ada.take()
    #expect(messages.errors.count == 1)
    #expect(messages.acks.count == 1)
  }

  @Test func `a renewed token may not send where the last send went, if it does not allow that`() {
    let relay = relay()
    let ada = client(relay, "ada|||")
    ada.join("b")
    relay.run()
    for id in ["1", "2"] { ada.post("b", id) }
    relay.run()
    #expect(ada.take().acks.map(\.id) == ["1", "2"])
    ada.send(.auth(token: "ada||a*|"))
    ada.post("b", "3")
    relay.run()
    let messages = ada.take()
    #expect(messages.acks.isEmpty)
    #expect(messages.errors.map(\.code) == [.forbidden])
    #expect(messages.errors.map(\.id) == ["3"])
  }

  @Test func `who has sent to a room may not send to the room that takes its place in memory`() {
    let relay = SimulatedRelay { $0.tailBytes = 1 }
    let (cy, bo) = (relay.connect("cy"), relay.connect("bo"))
    cy.join("left")
    cy.post("left", "1")
    relay.run()
    cy.send(.leave(room: "left", forget: false))
    relay.run()
    bo.join("dm:ada:bo")
    relay.run()
    _ = cy.take()
    cy.post("dm:ada:bo", "2")
    relay.run()
    #expect(cy.take().errors.map(\.code) == [.forbidden])
  }

  @Test func `lost rights end their subscriptions, pending ones as well`() {
    let relay = relay()
    let (ada, bo) = (client(relay, "ada|||"), client(relay, "bo|||"))
    for room in ["a", "b", "dm:ada:bo"] { ada.join(room) }
    ada.send(.rooms(.init()))
    relay.run()
    _ = ada.take()
    relay.logIsHeld = true
    ada.join("d")
    relay.run()
    ada.send(.auth(token: "ada|a*||"))
    relay.run()
    let told = ada.take()
    #expect(told.first == .renewed(expiresInMilliseconds: nil))
    #expect(told.errors.map(\.room) == ["b", "d", "dm:ada:bo"])
    #expect(told.errors.allSatisfy { $0.code == .forbidden && $0.re == .auth })
    let left = told.compactMap { if case .left(let room, _) = $0 { room } else { nil } }
    #expect(left == ["b", "d", "dm:ada:bo"])
    relay.logIsHeld = false
    relay.run()
    for room in ["a", "b", "d", "dm:ada:bo"] { bo.post(room, room) }
    relay.run(forMilliseconds: 3000)
    let rest = ada.take()
    #expect(rest.entries.map(\.room) == ["a"])
    #expect(rest.joined.isEmpty)
    #expect(rest.activity.isEmpty)
    // The log counts no subscriber there any more.
    #expect(relay.shard { $0.sessions[ada.session.slot].subscriptionCount } == 1)
  }

  @Test func `all connections of a banned user are closed, and no others`() {
    let relay = relay()
    let (phone, harness) = (client(relay, "ada|||"), client(relay, "ada|||"))
    let bo = client(relay, "bo|||")
    phone.join("r")
    bo.join("r", subscribers: true)
    relay.run()
    for socket in [phone, harness, bo] { _ = socket.take() }
    relay.shard { $0.ban(["ada", "nobody"]) }
    relay.run()
    for socket in [phone, harness] {
      #expect(socket.take().errors.map(\.code) == [.forbidden])
      #expect(socket.closeCode == 4403)
    }
    bo.post("r", "1")
    relay.run()
    #expect(bo.closeCode == nil)
    #expect(bo.take().entries.count == 1)
  }

  @Test func `in open mode nothing is limited, and a token is refused`() {
    let relay = SimulatedRelay { unlimited(&$0) }
    let ada = relay.connect("ada")
    ada.send(.auth(token: "ada|||"))
    ada.join("r")
    relay.run()
    let messages = ada.take()
    #expect(messages.errors.map(\.code) == [.unauthorized])
    #expect(messages.joined.count == 1)
  }
}
