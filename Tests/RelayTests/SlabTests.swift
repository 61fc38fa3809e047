import Testing

@testable import Relay

@Suite struct `A slab` {
  @Test func `gives each element a place, and a removed one's place to the next`() {
    var slab = Slab(vacant: "")
    let (a, b) = (slab.insert("a"), slab.insert("b"))
    slab.remove(a)
    #expect(slab.contains(a) == false)
    #expect(slab.count == 1)
    let c = slab.insert("c")
    #expect(c == a)
    #expect(slab[c] == "c")
    #expect(slab[b] == "b")
    #expect(slab.capacity == 2)
  }

  @Test func `changes an element in its place`() {
    var slab = Slab<[Int]>(vacant: [])
    let slot = slab.insert([1])
    slab[slot].append(2)
    #expect(slab[slot] == [1, 2])
  }

  @Test func `lists what it has, in the order of places`() {
    var slab = Slab(vacant: -1)
    let slots = (0..<5).map { slab.insert($0) }
    slab.remove(slots[1])
    slab.remove(slots[3])
    #expect(slab.slots == [slots[0], slots[2], slots[4]])
    #expect(slab.slots.map { slab[$0] } == [0, 2, 4])
  }

  @Test func `does not contain a place that it never had`() {
    #expect(Slab(vacant: -1).contains(Slot(0)) == false)
  }

  @Test func `a handle finds its element as long as it is there, and no later one`() {
    var slab = Slab(vacant: "")
    let slot = slab.insert("a")
    let handle = slab.handle(slot)
    #expect(slab.contains(handle) == true)
    slab.remove(handle.slot)
    #expect(slab.contains(handle) == false)
    let later = slab.insert("b")
    #expect(later == handle.slot)
    #expect(slab.contains(handle) == false)
  }

  @Test func `a handle of a free slot finds nothing`() {
    var slab = Slab(vacant: "")
    let slot = slab.insert("a")
    slab.remove(slot)
    #expect(slab.contains(slab.handle(slot)) == false)
  }

  @Test func `a generation is not used again when the table has shrunk`() {
    var slab = Slab(vacant: "")
    let slot = slab.insert("a")
    let handle = slab.handle(slot)
    slab.remove(handle.slot)
    slab.shrink()
    #expect(slab.capacity == 0)
    _ = slab.insert("b")
    #expect(slab.contains(handle) == false)
  }

  @Test func `shrinks after its last element, and fills the lowest places first`() {
    var slab = Slab(vacant: -1)
    let slots = (0..<100).map { slab.insert($0) }
    for slot in slots where slot != slots[3] { slab.remove(slot) }
    slab.shrink()
    #expect(slab.capacity == 4)
    #expect(slab[slots[3]] == 3)
    #expect(slab.insert(0) == slots[0])
    #expect(slab.insert(1) == slots[1])
  }

  @Test func `keeps its places while more than half of them lie before the last element`() {
    var slab = Slab(vacant: -1)
    let slots = (0..<100).map { slab.insert($0) }
    for slot in slots where slot != slots[60] { slab.remove(slot) }
    slab.shrink()
    #expect(slab.capacity == 100)
  }

  @Test func `no element is moved when the table grows`() {
    var slab = Slab(vacant: -1)
    let first = slab.insert(0)
    let address = unsafe slab.address(of: first)
    let slots = (1...1000).map { slab.insert($0) }
    #expect(unsafe slab.address(of: first) == address)
    #expect(slots.map { slab[$0] } == Array(1...1000))
  }

  @Test func `grows again after it has shrunk`() {
    var slab = Slab<[Int]>(vacant: [])
    for length in [300, 64, 65, 1] {
      let slots = (0..<length).map { slab.insert([$0]) }
      #expect(slots.map { slab[$0] } == (0..<length).map { [$0] })
      for slot in slots { slab.remove(slot) }
      slab.shrink()
      #expect(slab.capacity == 0)
    }
  }

  @Test func `a link is a slot or none, in four bytes`() {
    var link = OptionalSlot<Int>.none
    #expect(link.slot == nil)
    link.slot = Slot(7)
    #expect(link.slot == Slot(7))
    #expect(MemoryLayout<OptionalSlot<Int>>.size == 4)
  }
}
