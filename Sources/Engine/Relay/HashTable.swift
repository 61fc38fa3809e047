/// An open-addressing table from hashes to indices of an array of its owner.
///
/// The owner compares: the table has neither keys nor values, so an entry costs four bytes and no
/// reference count. Nothing is ever removed. A `Slab` finds elements by place, this by content.
@frozen
public struct HashTable: Sendable {
  /// Index + 1; 0 = empty.
  @usableFromInline
  var slots: [UInt32]
  @usableFromInline
  var count = 0

  /// - Parameter capacity: the number of indices up to which it does not grow.
  @inlinable
  public init(capacity: Int = 32) {
    var size = 64
    while size < capacity * 2 { size *= 2 }
    slots = Array(repeating: 0, count: size)
  }

  /// Returns the first index with this hash that `matches`; not always the newest.
  @inlinable @inline(__always)
  public func find(_ hash: UInt64, where matches: (Int) -> Bool) -> Int? {
    let mask = slots.count - 1
    var place = Self.spread(hash) & mask
    while slots[place] != 0 {
      let index = Int(slots[place] - 1)
      if matches(index) { return index }
      place = (place + 1) & mask
    }
    return nil
  }

  /// Adds an index.
  /// - Parameter hash: returns the hash of any index in the table, in case it grows.
  @inlinable @inline(__always)
  public mutating func insert(_ index: Int, hash: (Int) -> UInt64) {
    if count * 2 >= slots.count { grow(hash) }
    count += 1
    place(UInt32(index + 1), hash(index))
  }

  /// Replaces the index `former` with `index`, which has the same hash.
  @inlinable
  public mutating func replace(_ former: Int, by index: Int, _ hash: UInt64) {
    let mask = slots.count - 1
    var place = Self.spread(hash) & mask
    while slots[place] != 0 {
      if slots[place] == UInt32(former + 1) {
        slots[place] = UInt32(index + 1)
        return
      }
      place = (place + 1) & mask
    }
  }

  @inlinable
  mutating func grow(_ hash: (Int) -> UInt64) {
    let old = slots
    slots = Array(repeating: 0, count: old.count * 4)
    for slot in old where slot != 0 { place(slot, hash(Int(slot - 1))) }
  }

  @inlinable @inline(__always)
  mutating func place(_ slot: UInt32, _ hash: UInt64) {
    let mask = slots.count - 1
    var place = Self.spread(hash) & mask
    while slots[place] != 0 { place = (place + 1) & mask }
    slots[place] = slot
  }

  /// Fibonacci hashing also spreads consecutive numbers, such as those of rooms.
  @inlinable @inline(__always)
  static func spread(_ hash: UInt64) -> Int {
    Int(truncatingIfNeeded: (hash &* 0x9E37_79B9_7F4A_7C15) >> 24)
  }
}
