/// The users who are typing or were a moment ago. Typing ends by itself if it is not repeated.
struct Typers {
  /// How long typing lasts.
  static let milliseconds: Int64 = 6000

  private struct Typer {
    /// In milliseconds of the monotonic clock.
    var until: Int64
    var isTyping: Bool
  }
  /// A timer is under way for each.
  private var typers: [EphemeralKey: Typer] = [:]

  /// The state of typing when its timer fires.
  enum Due {
    /// It was repeated: the timer is set again.
    case later(Int64)
    /// It has lasted too long.
    case expired
    /// It ended before.
    case ended
  }

  var isEmpty: Bool { typers.isEmpty }

  func isTyping(_ key: EphemeralKey) -> Bool { typers[key]?.isTyping == true }

  /// Starts typing, or prolongs it.
  /// - Returns: when the owner has to call `due`; `nil` if a timer is under way.
  mutating func start(_ key: EphemeralKey, now: Int64) -> Int64? {
    let until = now + Self.milliseconds
    let former = typers.updateValue(Typer(until: until, isTyping: true), forKey: key)
    return former == nil ? until : nil
  }

  /// - Returns: whether the user was typing.
  @discardableResult
  mutating func stop(_ key: EphemeralKey) -> Bool {
    guard isTyping(key) else { return false }
    typers[key]?.isTyping = false
    return true
  }

  mutating func due(_ key: EphemeralKey, now: Int64) -> Due {
    if let typer = typers[key], typer.isTyping {
      if typer.until > now { return .later(typer.until) }
      typers[key] = nil
      return .expired
    }
    typers[key] = nil
    return .ended
  }

  /// Forgets a key whose room has gone.
  mutating func remove(_ key: EphemeralKey) { typers[key] = nil }

  var isLoose: Bool { typers.isLoose }
  mutating func shrink() { typers.shrinkIfLoose() }
}
