/// The position of an element in a ``Slab`` or an array, which cannot be confused with the position
/// of another type's element.
///
/// The position of a removed element is used again: what may outlive the element, as a timer does,
/// keeps a ``Handle`` instead.
public struct Slot<Element>: Hashable, Sendable {
  public let place: Int32

  public init(_ place: Int32) { self.place = place }

  public init(_ place: Int) { self.place = Int32(place) }
}

/// A slot or none, in four bytes: `Slot?` takes eight.
struct OptionalSlot<Element>: Hashable, Sendable {
  private var place: Int32

  static var none: Self { Self(nil) }

  init(_ slot: Slot<Element>?) { place = slot?.place ?? -1 }

  var slot: Slot<Element>? {
    get { place < 0 ? nil : Slot(place) }
    set { self = Self(newValue) }
  }

  var isNone: Bool { place < 0 }
}

/// A slot and the generation of its element, which distinguishes the element from those that have
/// the slot before or after it.
public struct Handle<Element>: Hashable, Sendable {
  public let slot: Slot<Element>
  public let generation: UInt32

  public init(slot: Slot<Element>, generation: UInt32) {
    self.slot = slot
    self.generation = generation
  }

  public init(index: Int32, generation: UInt32) {
    self.init(slot: Slot(index), generation: generation)
  }
}

extension Array {
  subscript(slot: Slot<Element>) -> Element {
    @inline(__always) _read { yield self[Int(slot.place)] }
    @inline(__always) _modify { yield &self[Int(slot.place)] }
  }

  /// Appends an element and returns its slot.
  mutating func add(_ element: Element) -> Slot<Element> {
    append(element)
    return Slot(count - 1)
  }
}
