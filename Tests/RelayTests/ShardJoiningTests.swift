import Relay
import ShardWorld
import Testing
import Wire

@Suite struct `a join of several rooms` {
  private func client(
    _ configure: (inout Shard.Configuration) -> Void = unlimited
  ) -> (SimulatedRelay, SimulatedSocket) {
    let relay = SimulatedRelay(configure)
    let ada = relay.connect("ada")
    relay.run()
    _ = ada.take()
    return (relay, ada)
  }

  private func join(_ rooms: [String]) -> String {
    let objects = rooms.map { #"{"room":"\#($0)","after":0}"# }.joined(separator: ",")
    return #"{"type":"join","ref":"j","rooms":[\#(objects)]}"#
  }

  private func rooms(_ answers: [SimulatedSocket.Answer]) -> [String] {
    answers.map { answer in
      switch answer.message {
      case .joined(let joined): joined.room
      case .error(let error): "\(error.code.rawValue) \(error.room ?? "")"
      default: answer.message.type
      }
    }
  }

  @Test func `is answered for each room, in the order named`() {
    let (relay, ada) = client()
    let names = (0..<256).map { "r\($0)" }
    ada.send(join(names))
    relay.run()
    #expect(rooms(ada.takeAnswers()) == names)
  }

  @Test func `continues after a room that fails`() {
    let (relay, ada) = client()
    ada.send(join(["a", "A", "b", "dm:bo:cy", "a", "c"]))
    relay.run()
    #expect(
      rooms(ada.takeAnswers())
        == ["a", "bad_field ", "b", "forbidden dm:bo:cy", "bad_field a", "c"])
  }

  @Test func `names its ref in every answer`() {
    let (relay, ada) = client()
    ada.send(join(["a", "A", "b"]))
    relay.run()
    #expect(ada.takeAnswers().map(\.ref) == ["j", "j", "j"])
  }

  @Test func `stops at the limit of rooms`() {
    let (relay, ada) = client { $0.limits.roomsPerConnection = 2 }
    ada.send(.join(.init(room: "z")))
    ada.send(join(["a", "b"]))
    relay.run()
    #expect(rooms(ada.takeAnswers()) == ["z", "a", "too_many_rooms b"])
  }

  @Test func `waits while the client does not read, and then continues`() {
    let (relay, ada) = client()
    let names = (0..<256).map { "r\($0)" }
    for name in names { ada.send(.send(.init(room: name, id: "1", text: "x"))) }
    relay.run()
    _ = ada.take()
    ada.space = 0
    ada.send(join(names))
    ada.send(.ping(t: nil))
    relay.run()
    #expect(relay.queuedBytes(ada) <= 262_144)
    #expect(relay.shard { $0.gauges().subscriptions } < 256)
    ada.space = .max
    relay.run()
    let messages = ada.take()
    #expect(messages.joined.map(\.room) == names)
    #expect(messages.entries.count == 256)
  }

  @Test func `counts as one request for each 16 rooms`() {
    func requests(_ rooms: Int) -> Int {
      let (relay, ada) = client { $0.limits.budget.requestsPerSecond = 16 }
      ada.send(join((0..<rooms).map { "r\($0)" }))
      for _ in 0..<100 { ada.send(.ping(t: nil)) }
      relay.run(forMilliseconds: 1)
      return ada.take().count { if case .pong = $0 { true } else { false } }
    }
    #expect(requests(16) - requests(17) == 1)
    #expect(requests(1) == requests(16))
  }
}
