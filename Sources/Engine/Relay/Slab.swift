/// The place of an element in a ``Slab`` or an array: a number that cannot be taken for the place of
/// another type's element.
///
/// The place of a removed element is used again. What outlives the element, as a timer does, compares
/// a generation of the element's as well.
struct Slot<Element>: Hashable, Sendable {
  let place: Int32

  init(_ place: Int32) { self.place = place }

  init(_ place: Int) { self.place = Int32(place) }
}

/// A slot or none, in four bytes: `Slot?` takes eight.
struct Link<Element>: Hashable, Comparable, Sendable {
  private var place: Int32

  static var none: Self { Self(nil) }

  init(_ slot: Slot<Element>?) { place = slot?.place ?? -1 }

  var slot: Slot<Element>? {
    get { place < 0 ? nil : Slot(place) }
    set { self = Self(newValue) }
  }

  var isNone: Bool { place < 0 }

  static func < (a: Self, b: Self) -> Bool { a.place < b.place }
}

/// A table whose places are used again, the lowest of a shrunken table first.
///
/// `contains` tells whether a place has an element; one that has none must not be accessed.
struct Slab<Element> {
  // Not `[Element?]`: each access to a field would copy the whole element out, with its references,
  // which costs a fifth of the relay's throughput.
  private var elements: [Element] = []
  private var isUsed: [Bool] = []
  private var free: [Slot<Element>] = []
  private let vacant: Element

  /// - Parameter vacant: what a free place holds; it should own no memory.
  init(vacant: Element) { self.vacant = vacant }

  /// How many elements there are.
  var count: Int { elements.count - free.count }
  var isEmpty: Bool { count == 0 }
  /// How many places there are, free ones included.
  var capacity: Int { elements.count }

  mutating func insert(_ element: consuming Element) -> Slot<Element> {
    guard let slot = free.popLast() else {
      elements.append(element)
      isUsed.append(true)
      return Slot(elements.count - 1)
    }
    elements[Int(slot.place)] = element
    isUsed[Int(slot.place)] = true
    return slot
  }

  mutating func remove(_ slot: Slot<Element>) {
    precondition(contains(slot), "an element is removed once")
    elements[Int(slot.place)] = vacant
    isUsed[Int(slot.place)] = false
    free.append(slot)
  }

  func contains(_ slot: Slot<Element>) -> Bool {
    Int(slot.place) < isUsed.count && isUsed[Int(slot.place)]
  }

  subscript(slot: Slot<Element>) -> Element {
    @inline(__always) _read {
      assert(isUsed[Int(slot.place)], "a free place is not read")
      yield elements[Int(slot.place)]
    }
    @inline(__always) _modify {
      assert(isUsed[Int(slot.place)], "a free place is not changed")
      yield &elements[Int(slot.place)]
    }
  }

  /// The places of all elements, in order. O(capacity).
  var slots: [Slot<Element>] {
    elements.indices.filter { isUsed[$0] }.map { Slot($0) }
  }

  /// All elements, in the order of their places.
  var all: some Sequence<Element> {
    elements.indices.lazy.filter { isUsed[$0] }.map { elements[$0] }
  }

  /// Cuts the table after its last element, if that makes it half as long or less.
  mutating func shrink() {
    let end = (isUsed.lastIndex(of: true) ?? -1) + 1
    guard end <= elements.count / 2 else { return }
    var kept: [Element] = []
    kept.reserveCapacity(end)
    kept += elements[..<end]
    elements = kept
    isUsed = Array(isUsed[..<end])
    free = isUsed.indices.reversed().filter { !isUsed[$0] }.map { Slot($0) }
  }
}

extension Array {
  subscript(slot: Slot<Element>) -> Element {
    @inline(__always) _read { yield self[Int(slot.place)] }
    @inline(__always) _modify { yield &self[Int(slot.place)] }
  }

  /// Appends an element and returns its place.
  mutating func add(_ element: Element) -> Slot<Element> {
    append(element)
    return Slot(count - 1)
  }
}
