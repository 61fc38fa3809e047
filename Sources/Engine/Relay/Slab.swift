/// A table whose slots are used again, the lowest of a shrunken table first.
///
/// `contains` tells whether a slot has an element; a free slot must not be accessed.
///
/// Public, and `contains` inlinable, so that both are inlined in other modules.
public struct Slab<Element> {
  // Not `[Element?]`: each access to a field would copy the whole element, with its references,
  // which costs a fifth of the relay's throughput.
  private var elements: [Element] = []
  /// The generation of each slot's element; 0 = the slot is free.
  @usableFromInline
  var generations: [UInt32] = []
  private var lastGeneration: UInt32 = 0
  private var free: [Slot<Element>] = []
  private let vacant: Element

  /// - Parameter vacant: the content of free slots; it should own no memory.
  public init(vacant: Element) { self.vacant = vacant }

  /// The number of elements.
  public var count: Int { elements.count - free.count }
  public var isEmpty: Bool { count == 0 }
  /// The number of slots, including free ones.
  public var capacity: Int { elements.count }

  public mutating func insert(_ element: consuming Element) -> Slot<Element> {
    lastGeneration = lastGeneration == .max ? 1 : lastGeneration + 1
    guard let slot = free.popLast() else {
      elements.append(element)
      generations.append(lastGeneration)
      return Slot(elements.count - 1)
    }
    elements[Int(slot.place)] = element
    generations[Int(slot.place)] = lastGeneration
    return slot
  }

  public mutating func remove(_ slot: Slot<Element>) {
    precondition(contains(slot), "the element has already been removed")
    elements[Int(slot.place)] = vacant
    generations[Int(slot.place)] = 0
    free.append(slot)
  }

  @inlinable
  public func contains(_ slot: Slot<Element>) -> Bool { generation(slot) != 0 }

  /// Whether the element that the handle was made for is still there.
  func contains(_ handle: Handle<Element>) -> Bool {
    handle.generation != 0 && generation(handle.slot) == handle.generation
  }

  func handle(_ slot: Slot<Element>) -> Handle<Element> {
    Handle(slot: slot, generation: generation(slot))
  }

  @inlinable
  func generation(_ slot: Slot<Element>) -> UInt32 {
    Int(slot.place) < generations.count ? generations[Int(slot.place)] : 0
  }

  public subscript(slot: Slot<Element>) -> Element {
    @inline(__always) _read {
      assert(contains(slot), "a free slot must not be read")
      yield elements[Int(slot.place)]
    }
    @inline(__always) _modify {
      assert(contains(slot), "a free slot must not be changed")
      yield &elements[Int(slot.place)]
    }
  }

  /// The slots of all elements, in order. O(capacity).
  public var slots: [Slot<Element>] {
    elements.indices.filter { generations[$0] != 0 }.map { Slot($0) }
  }

  /// All elements, in the order of their slots.
  var all: some Sequence<Element> {
    elements.indices.lazy.filter { generations[$0] != 0 }.map { elements[$0] }
  }

  /// Cuts the table after its last element, if that makes it at most half as long.
  public mutating func shrink() {
    let end = (generations.lastIndex { $0 != 0 } ?? -1) + 1
    guard end <= elements.count / 2 else { return }
    var kept: [Element] = []
    kept.reserveCapacity(end)
    kept += elements[..<end]
    elements = kept
    generations = Array(generations[..<end])
    free = generations.indices.reversed().filter { generations[$0] == 0 }.map { Slot($0) }
  }
}
