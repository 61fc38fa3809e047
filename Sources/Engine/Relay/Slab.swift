/// A table whose slots are used again, the lowest of a shrunken table first.
///
/// `contains` tells whether a slot has an element; a free slot must not be accessed.
///
/// Public, and `contains` inlinable, so that both are inlined in other modules.
@safe
public struct Slab<Element>: ~Copyable {
  // Not an array: where the accessors of its subscript are not inlined, they copy the element, with
  // its references, and allocate memory for the copy. Addressors do neither.
  @usableFromInline
  var elements: UnsafeMutablePointer<Element>
  /// The number of elements that there is memory for.
  private var allocated = 0
  /// The generation of each slot's element; 0 = the slot is free.
  @usableFromInline
  var generations: [UInt32] = []
  private var lastGeneration: UInt32 = 0
  private var free: [Slot<Element>] = []
  private let vacant: Element

  /// - Parameter vacant: the content of free slots; it should own no memory.
  public init(vacant: Element) {
    self.vacant = vacant
    unsafe elements = .allocate(capacity: 0)
  }

  deinit {
    unsafe elements.deinitialize(count: capacity)
    unsafe elements.deallocate()
  }

  /// The number of elements.
  public var count: Int { capacity - free.count }
  public var isEmpty: Bool { count == 0 }
  /// The number of slots, including free ones.
  public var capacity: Int { generations.count }

  public mutating func insert(_ element: consuming Element) -> Slot<Element> {
    lastGeneration = lastGeneration == .max ? 1 : lastGeneration + 1
    guard let slot = free.popLast() else {
      if capacity == allocated { reallocate(max(4, allocated * 2)) }
      unsafe (elements + capacity).initialize(to: element)
      generations.append(lastGeneration)
      return Slot(capacity - 1)
    }
    unsafe elements[Int(slot.place)] = element
    generations[Int(slot.place)] = lastGeneration
    return slot
  }

  /// Moves the elements to memory of another size, which they fit into.
  private mutating func reallocate(_ size: Int) {
    let larger = UnsafeMutablePointer<Element>.allocate(capacity: size)
    unsafe larger.moveInitialize(from: elements, count: capacity)
    unsafe elements.deallocate()
    unsafe elements = larger
    allocated = size
  }

  public mutating func remove(_ slot: Slot<Element>) {
    precondition(contains(slot), "the element has already been removed")
    self[slot] = vacant
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

  /// The address of an element, until the next one is inserted.
  @inlinable
  @inline(__always)
  public func address(of slot: Slot<Element>) -> UnsafeMutablePointer<Element> {
    precondition(slot.place >= 0 && Int(slot.place) < generations.count, "no such slot")
    assert(contains(slot), "a free slot must not be accessed")
    return unsafe elements + Int(slot.place)
  }

  @inlinable
  public subscript(slot: Slot<Element>) -> Element {
    @inline(__always) unsafeAddress { unsafe UnsafePointer(address(of: slot)) }
    @inline(__always) unsafeMutableAddress { unsafe address(of: slot) }
  }

  /// The slots of all elements, in order. O(capacity).
  public var slots: [Slot<Element>] {
    generations.indices.filter { generations[$0] != 0 }.map { Slot($0) }
  }

  /// Cuts the table after its last element, if that makes it at most half as long.
  public mutating func shrink() {
    let end = (generations.lastIndex { $0 != 0 } ?? -1) + 1
    guard end <= capacity / 2 else { return }
    unsafe (elements + end).deinitialize(count: capacity - end)
    generations = Array(generations[..<end])
    reallocate(end)
    free = generations.indices.reversed().filter { generations[$0] == 0 }.map { Slot($0) }
  }
}
