/// A table whose slots are used again, the lowest of a shrunken table first.
///
/// `contains` tells whether a slot has an element; a free slot must not be accessed.
///
/// Public, and `contains` inlinable, so that both are inlined in other modules.
@safe
public struct Slab<Element>: ~Copyable {
  // Not an array: where the accessors of its subscript are not inlined, they copy the element, with
  // its references, and allocate memory for the copy. Addressors do neither.
  //
  // Blocks of one size: a table that grows moves no element, and leaves no memory of a smaller table
  // behind.
  @usableFromInline
  var blocks: [UnsafeMutablePointer<Element>]
  /// The generation of each slot's element; 0 = the slot is free.
  @usableFromInline
  var generations: [UInt32] = []
  private var lastGeneration: UInt32 = 0
  private var free: [Slot<Element>] = []
  private let vacant: Element

  /// - Parameter vacant: the content of free slots; it should own no memory.
  public init(vacant: Element) {
    self.vacant = vacant
    unsafe blocks = []
  }

  deinit {
    deinitialize(from: 0)
    unsafe blocks.forEach { unsafe $0.deallocate() }
  }

  /// The number of elements in a block.
  @usableFromInline
  static var blockLength: Int { 64 }

  /// The number of elements.
  public var count: Int { capacity - free.count }
  public var isEmpty: Bool { count == 0 }
  /// The number of slots, including free ones.
  public var capacity: Int { generations.count }

  public mutating func insert(_ element: consuming Element) -> Slot<Element> {
    lastGeneration = lastGeneration == .max ? 1 : lastGeneration + 1
    guard let slot = free.popLast() else {
      if unsafe capacity == blocks.count * Self.blockLength {
        unsafe blocks.append(.allocate(capacity: Self.blockLength))
      }
      unsafe address(ofPlace: capacity).initialize(to: element)
      generations.append(lastGeneration)
      return Slot(capacity - 1)
    }
    unsafe address(ofPlace: Int(slot.place)).pointee = element
    generations[Int(slot.place)] = lastGeneration
    return slot
  }

  private func deinitialize(from end: Int) {
    for place in end..<capacity { unsafe address(ofPlace: place).deinitialize(count: 1) }
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

  @inlinable
  @inline(__always)
  func address(ofPlace place: Int) -> UnsafeMutablePointer<Element> {
    unsafe blocks[place / Self.blockLength] + place % Self.blockLength
  }

  /// The address of an element, until it is removed.
  @inlinable
  @inline(__always)
  public func address(of slot: Slot<Element>) -> UnsafeMutablePointer<Element> {
    let place = Int(UInt32(bitPattern: slot.place))
    precondition(place < generations.count, "no such slot")
    assert(contains(slot), "a free slot must not be accessed")
    return unsafe address(ofPlace: place)
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
    deinitialize(from: end)
    generations = Array(generations[..<end])
    let needed = (end + Self.blockLength - 1) / Self.blockLength
    unsafe blocks[needed...].forEach { unsafe $0.deallocate() }
    unsafe blocks.removeLast(blocks.count - needed)
    free = generations.indices.reversed().filter { generations[$0] == 0 }.map { Slot($0) }
  }
}
