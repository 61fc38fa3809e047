import Relay
import ShardWorld
import Testing
import Wire

@Suite struct `Requests to erase` {
  @Test func `are for operators, who cannot erase the relay's own records`() throws {
    let relay = SimulatedRelay {
      $0.verifyToken = { token, _ throws(WireError) in Identity(user: token) }
      $0.isOperator = { $0.user == "root" }
    }
    let (ada, root) = (relay.connect("ada"), relay.connect("root"))
    ada.join("tea")
    ada.send(.send(ClientMessage.Send(room: "tea", id: "1", text: "mine")))
    relay.run()
    _ = ada.take()
    ada.send(.erase(user: "ada", room: "tea", seq: 1), ref: "1")
    root.send(.erase(user: "sys", room: "sys:audit", seq: 1), ref: "2")
    relay.run()
    let refused = ada.take()
    #expect(refused.errors.map(\.code) == [.forbidden])
    #expect(refused.entries.isEmpty)
    #expect(root.take().errors.map(\.field) == ["user"])
    root.send(.erase(user: "ada", room: "tea", seq: 1), ref: "3")
    relay.run()
    #expect(root.take().errors.isEmpty)
    #expect(ada.take().entries.map(\.kind) == [.delete])
  }
}
