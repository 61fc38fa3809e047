import Relay
import ShardWorld
import Testing
import Wire

@Suite struct `the answer to a request carries its ref` {
  /// A relay with one client, whose welcome is taken.
  private func client() -> (SimulatedRelay, SimulatedSocket) {
    let relay = SimulatedRelay()
    let ada = relay.connect("ada")
    relay.run()
    _ = ada.take()
    return (relay, ada)
  }

  /// The same with another device of the user, who is a member of `r`.
  private func secondDevice() -> (SimulatedRelay, SimulatedSocket) {
    let (relay, ada) = client()
    ada.send(.join(.init(room: "r")))
    relay.run()
    let phone = relay.connect("ada")
    relay.run()
    _ = phone.take()
    return (relay, phone)
  }

  private func answers(
    _ relay: SimulatedRelay, _ socket: SimulatedSocket, _ messages: (ClientMessage, String?)...
  ) -> [SimulatedSocket.Answer] {
    for (message, ref) in messages { socket.send(message, ref: ref) }
    relay.run()
    return socket.takeAnswers()
  }

  static let answered: [(ClientMessage, ref: String)] = [
    (.join(.init(room: "s")), "joined"), (.leave(room: "r", forget: false), "left"),
    (.send(.init(room: "r", id: "1", text: "x")), "ack"),
    (.history(.init(room: "r")), "history"), (.rooms(.init()), "rooms"),
    (.people(.init()), "people"), (.ping(t: nil), "pong"), (.received(room: "r", seq: 1), "ok"),
    (.read(room: "r", seq: 1), "ok"), (.typing(room: "r", on: true), "ok"),
    (.presence(isAway: true), "ok"), (.presence(isAway: false), "ok"),
    (.auth(token: "x"), "error"), (.join(.init(room: "dm:bo:cy")), "error"),
    (.leave(room: "t", forget: false), "error"), (.leave(room: "t", forget: true), "error"),
    (.leave(room: "r", forget: true), "left"),
    (.send(.init(room: "dm:bo:cy", id: "1", text: "x")), "error"),
    (.send(.init(room: "r", id: "1", edit: 9, text: "x")), "error"),
    (.history(.init(room: "dm:bo:cy")), "error"), (.rooms(.init(cursor: "?")), "error"),
    (.people(.init(cursor: "?")), "error"), (.received(room: "t", seq: 1), "error"),
    (.read(room: "t", seq: 1), "error"), (.typing(room: "t", on: true), "error"),
  ]

  @Test(arguments: answered)
  func `whatever the answer is`(_ message: ClientMessage, _ type: String) {
    let (relay, ada) = client()
    ada.send(.join(.init(room: "r")))
    relay.run()
    _ = ada.take()
    let answers = answers(relay, ada, (message, "ref 1")).filter { $0.ref != nil }
    #expect(answers.map(\.ref) == ["ref 1"])
    #expect(answers.first.map { $0.message.type } == type)
  }

  @Test func `unsolicited messages carry none`() {
    let (relay, ada) = client()
    let answers = answers(
      relay, ada, (.join(.init(room: "r")), "1"), (.send(.init(room: "r", id: "1", text: "x")), "2")
    )
    let entries = answers.filter { if case .message = $0.message { true } else { false } }
    #expect(entries.map(\.ref) == [nil])
  }

  @Test func `a request without a ref that has no answer gets none`() {
    let (relay, ada) = client()
    ada.send(.join(.init(room: "r")))
    relay.run()
    _ = ada.take()
    #expect(
      answers(relay, ada, (.read(room: "r", seq: 0), nil), (.presence(isAway: true), nil)).isEmpty)
  }

  @Test func `a welcome answers the auth that gave the token`() {
    let relay = SimulatedRelay {
      $0.verifyToken = { token, _ throws(WireError) in Identity(user: token) }
    }
    let ada = relay.connect(nil)
    #expect(answers(relay, ada, (.auth(token: "ada"), "1")).map(\.ref) == ["1"])
    #expect(answers(relay, ada, (.auth(token: "ada"), "2")).map(\.ref) == ["2"])
  }

  // MARK: - Overtaken joins

  @Test func `a join that a later join overtakes is answered with superseded`() {
    let (relay, ada) = client()
    let answers = answers(
      relay, ada, (.join(.init(room: "r")), "1"), (.join(.init(room: "r")), "2"))
    #expect(answers.map(\.ref) == ["1", "2"])
    #expect(answers.map(\.message).errors.map(\.code) == [.superseded])
    #expect(answers.last?.message.type == "joined")
  }

  @Test func `a join that a leave overtakes is answered with superseded, before left`() {
    let (relay, ada) = client()
    let answers = answers(
      relay, ada, (.join(.init(room: "r")), "1"), (.leave(room: "r", forget: false), "2"))
    #expect(answers.map(\.ref) == ["1", "2"])
    #expect(answers.map { $0.message.type } == ["error", "left"])
  }

  // MARK: - Memberships

  @Test func `a read mark needs no join`() {
    let (relay, phone) = secondDevice()
    #expect(answers(relay, phone, (.read(room: "r", seq: 0), "1")).map(\.message) == [.ok])
    #expect(answers(relay, phone, (.read(room: "r", seq: 0), nil)).isEmpty)
  }

  @Test func `a user can leave a room for good that this connection has not joined`() {
    let (relay, phone) = secondDevice()
    let left = answers(relay, phone, (.leave(room: "r", forget: true), "1"))
    #expect(left.map(\.message) == [.left(room: "r")])
    let read = answers(relay, phone, (.read(room: "r", seq: 0), "2"))
    #expect(read.map(\.message).errors.map(\.code) == [.notJoined])
  }
}
