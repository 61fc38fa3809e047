private import OrderedCollections

/// A dictionary for many small entries, in no particular order.
///
/// The keys and the values are two arrays without gaps, with an index of a byte or two for each slot of
/// a hash table. A `Dictionary` has keys and values in the slots themselves, of which between a quarter
/// and five eighths are empty, so it takes up to twice the memory. With at most 15 entries there is
/// no hash table, and a look-up compares the keys.
public struct CompactDictionary<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private var entries: OrderedDictionary<Key, Value> = [:]

  public init() {}

  public var count: Int { entries.count }
  public var isEmpty: Bool { entries.isEmpty }
  public var keys: [Key] { entries.keys.elements }
  /// The values, each at the place of its key in `keys`.
  public var values: [Value] { entries.values.elements }

  public subscript(key: Key) -> Value? {
    get { entries[key] }
    set {
      if let newValue { entries[key] = newValue } else { removeValue(forKey: key) }
    }
  }

  /// Removes an entry. The last entry takes its place, so the cost does not depend on their number.
  @discardableResult
  public mutating func removeValue(forKey key: Key) -> Value? {
    guard let place = place(of: key) else { return nil }
    entries.swapAt(place, entries.count - 1)
    return entries.removeLast().value
  }

  /// Returns the place of an entry, which is valid until an entry is removed.
  func place(of key: Key) -> Int? { entries.index(forKey: key) }

  /// The value at a place.
  subscript(place place: Int) -> Value {
    get { entries.values[place] }
    // A coroutine of `values` would allocate memory for each access.
    set { unsafe entries.values.withUnsafeMutableBufferPointer { unsafe $0[place] = newValue } }
  }

  /// Whether the arrays are much larger than their content.
  var isLoose: Bool {
    let capacity = entries.values.elements.capacity
    return capacity > 1024 && count < capacity / 4
  }

  /// Replaces loose arrays by ones that fit.
  mutating func shrinkIfLoose() {
    guard isLoose else { return }
    var fitting: OrderedDictionary<Key, Value> = [:]
    fitting.reserveCapacity(count)
    for (key, value) in entries { fitting[key] = value }
    entries = fitting
  }
}

extension CompactDictionary: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral entries: (Key, Value)...) {
    for (key, value) in entries { self[key] = value }
  }
}
