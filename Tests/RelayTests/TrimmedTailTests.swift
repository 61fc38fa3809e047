import ShardWorld
import Testing
import Wire

@testable import Relay

@Suite struct `A shard and entries that are no longer kept` {
  @Test func `a client that lags gets none of them from memory, and is told`() {
    let relay = SimulatedRelay { unlimited(&$0) }
    let (ada, bo) = (relay.connect("ada"), relay.connect("bo"))
    bo.join("r")
    relay.run()
    _ = bo.take()
    bo.space = 5000
    for id in 1...400 { ada.post("r", "\(id)", text: String(repeating: "x", count: 1000)) }
    relay.run()
    #expect(bo.take().entries.map(\.seq) == [1, 2, 3, 4])
    relay.process(trimming: [RoomTrim(room: "r", first: 350, head: 400)])
    relay.run()
    bo.space = .max
    relay.run()
    let taken = bo.take()
    // One frame had begun.
    #expect(taken.entries.map(\.seq) == [5] + Array(350...400))
    #expect(taken.joined.map(\.resume) == [.truncated])
    #expect(taken.joined.map(\.after) == [349])
  }

  @Test func `a room without entries has no last one in a list`() throws {
    let relay = SimulatedRelay { unlimited(&$0) }
    let ada = relay.connect("ada")
    ada.post("r", "1")
    relay.run()
    _ = ada.take()
    relay.process(trimming: [RoomTrim(room: "r", first: 2, head: 1)])
    relay.run()
    let rows = try relay.page(relay.connect("ada")).rows
    #expect(rows.map(\.room) == ["r"])
    #expect(rows.map(\.head) == [1])
    #expect(rows.allSatisfy { $0.last == nil && $0.unread == 0 })
  }

  @Test func `a trim of a log that has lost entries since is ignored`() {
    let relay = SimulatedRelay()
    let ada = relay.connect("ada")
    for id in 1...3 { ada.post("r", "\(id)") }
    relay.run()
    let outcome = relay.process(trimming: [RoomTrim(room: "r", first: 3, head: 4)])
    #expect(outcome.trimmedEntries == 0)
    #expect(outcome.commit == nil)
  }
}
