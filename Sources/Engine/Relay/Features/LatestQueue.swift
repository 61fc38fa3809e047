/// The latest value of each key, in the order in which the keys came. It has a limit of keys, so
/// everything that a client may add without end goes through this type.
///
/// Each operation costs the same however many keys there are, averaged over many.
struct LatestQueue<Key: Hashable, Value> {
  private var values: [Key: Value] = [:]
  /// The keys from `first` on.
  private var order: [Key] = []
  private var first = 0

  var count: Int { values.count }
  /// The number of keys in memory, including those that were removed.
  var keysHeld: Int { order.count }
  var isEmpty: Bool { values.isEmpty }

  /// All values, in no order.
  var waiting: Dictionary<Key, Value>.Values { values.values }

  subscript(key: Key) -> Value? { values[key] }

  /// Sets the value of a key. A key that is there keeps its place.
  /// - Parameter limit: the number of keys from which on a new one is dropped.
  /// - Returns: whether the value was kept.
  @discardableResult
  mutating func set(_ value: Value, for key: Key, limit: Int) -> Bool {
    if values[key] == nil {
      guard values.count < limit else { return false }
      order.append(key)
    }
    values[key] = value
    return true
  }

  /// Removes the key that came first, with its value.
  mutating func popFirst() -> (key: Key, value: Value)? {
    guard first < order.count else { return nil }
    let key = order[first]
    first += 1
    let value = values.removeValue(forKey: key)
    if values.isEmpty {
      // Returns the memory.
      self = LatestQueue()
    } else if first >= 64, first * 2 >= order.count {
      order.removeFirst(first)
      first = 0
    }
    return value.map { (key, $0) }
  }
}
