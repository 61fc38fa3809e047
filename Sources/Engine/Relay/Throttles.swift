/// Limits ephemeral messages to one per key and interval: later values replace the one that waits.
struct Throttles {
  /// The interval.
  static let milliseconds: Int64 = 100

  private struct Throttle { var value: EphemeralValue? }
  private var throttles: [EphemeralKey: Throttle] = [:]

  /// - Returns: whether the value may be sent now; the owner then calls `due` after the interval.
  ///   Otherwise it waits.
  mutating func admit(_ value: EphemeralValue, _ key: EphemeralKey) -> Bool {
    guard throttles[key] != nil else {
      throttles[key] = Throttle()
      return true
    }
    throttles[key]?.value = value
    return false
  }

  /// The interval of a key has ended.
  /// - Returns: the value to send now, after which another interval begins; `nil` if none waits.
  mutating func due(_ key: EphemeralKey) -> EphemeralValue? {
    guard let value = throttles[key]?.value else {
      throttles[key] = nil
      return nil
    }
    throttles[key]?.value = nil
    return value
  }

  /// Drops the value that waits.
  mutating func cancel(_ key: EphemeralKey) { throttles[key]?.value = nil }

  /// Forgets a key whose room has gone.
  mutating func remove(_ key: EphemeralKey) { throttles[key] = nil }

  var isLoose: Bool { throttles.isLoose }
  mutating func shrink() { throttles.shrinkIfLoose() }
}

/// An ephemeral message about a room.
enum EphemeralValue {
  case receipt(Marks, toOthers: Bool)
  case typing(Bool)
  case subscribers(Int64)
}
