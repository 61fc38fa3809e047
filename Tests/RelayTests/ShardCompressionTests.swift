import Relay
import ShardWorld
import Testing
import Wire

@Suite struct `A shard and compressed messages` {
  private let long = String(repeating: "x", count: 1000)

  @Test func `an entry is compressed once for all who take it compressed, and plain for others`() {
    let relay = SimulatedRelay { unlimited(&$0) }
    let ada = relay.connect("ada")
    let packing = (0..<5).map { relay.connect("p\($0)", compresses: true) }
    let plain = relay.connect("bo")
    for socket in packing + [plain] { socket.join("r") }
    relay.run()
    // Some a `welcome`.
    let (made, taken) = (relay.compressions, packing.map(\.packed))
    for id in 1...10 { ada.post("r", "\(id)", text: long) }
    relay.run()
    for socket in packing + [plain] {
      let entries = socket.take().entries
      #expect(entries.map(\.seq) == Array(1...10))
      #expect(entries.allSatisfy { $0.body.count > long.utf8.count })
    }
    #expect(relay.compressions == made + 10)
    #expect(packing.map(\.packed) == taken.map { $0 + 10 })
    #expect(plain.packed == 0)
  }

  @Test func `short messages are not compressed, even next to a long one`() {
    let relay = SimulatedRelay { unlimited(&$0) }
    let (ada, bo) = (relay.connect("ada"), relay.connect("bo", compresses: true))
    bo.join("r")
    relay.run()
    let taken = bo.packed
    for id in 1...3 { ada.post("r", "\(id)") }
    relay.run()
    #expect(bo.take().entries.count == 3)
    #expect(bo.packed == taken)
    for id in 4...6 { ada.post("r", "\(id)", text: id == 5 ? long : nil) }
    relay.run()
    #expect(bo.take().entries.map(\.seq) == [4, 5, 6])
    #expect(bo.packed == taken + 1)
  }

  @Test(arguments: [3, 100, 4000])
  func `a socket that blocks anywhere gets every entry once`(space: Int) {
    let relay = SimulatedRelay { unlimited(&$0) }
    let ada = relay.connect("ada")
    let bo = relay.connect("bo", compresses: true)
    for room in ["r", "s"] { bo.join(room) }
    relay.run()
    _ = bo.take()
    bo.space = space
    for id in 1...200 { ada.post(id % 3 == 0 ? "s" : "r", "\(id)", text: id % 2 == 0 ? long : nil) }
    relay.run()
    var entries: [Entry] = []
    for _ in 0..<400 {
      entries += bo.take().entries
      bo.space = space * 20
      relay.run()
    }
    bo.space = .max
    relay.run()
    entries += bo.take().entries
    for (room, count) in [("r", 134), ("s", 66)] {
      #expect(entries.filter { $0.room == room }.map(\.seq) == Array(1...Int64(count)))
    }
    #expect(bo.garbage.isEmpty)
    #expect(bo.packed > 0)
  }

  @Test func `a page of history is compressed as well`() {
    let relay = SimulatedRelay { unlimited(&$0) }
    let ada = relay.connect("ada", compresses: true)
    for id in 1...3 { ada.post("r", "\(id)", text: long) }
    relay.run()
    let taken = ada.packed
    ada.send(.history(.init(room: "r", limit: 3)))
    relay.run()
    #expect(ada.take().pages.first?.entries.count == 3)
    #expect(ada.packed == taken + 1)
  }
}
