import HeapModule

/// The users who are typing or were a moment ago. Typing ends by itself if it is not repeated.
struct Typers {
  /// How long typing lasts.
  static let milliseconds: Int64 = 6000

  private struct Typer {
    /// In milliseconds of the monotonic clock.
    var until: Int64
    var isTyping: Bool
  }

  private struct Timer: Comparable {
    var at: Int64
    var key: EphemeralKey

    static func < (a: Self, b: Self) -> Bool { a.at < b.at }
  }

  /// Each has one timer.
  private var typers: [EphemeralKey: Typer] = [:]
  private var timers = Heap<Timer>()

  var isEmpty: Bool { typers.isEmpty }
  var timerCount: Int { timers.count }
  /// When `takeExpired` has something to do.
  var nextDeadline: Int64? { timers.min?.at }

  func isTyping(_ key: EphemeralKey) -> Bool { typers[key]?.isTyping == true }

  /// Returns what tells of a user who is typing, in every room.
  func keys(of user: String) -> [EphemeralKey] {
    typers.filter { $0.key.user == user && $0.value.isTyping }.map(\.key)
  }

  /// Starts typing, or prolongs it.
  mutating func start(_ key: EphemeralKey, now: Int64) {
    let until = now + Self.milliseconds
    let former = typers.updateValue(Typer(until: until, isTyping: true), forKey: key)
    if former == nil { timers.insert(Timer(at: until, key: key)) }
  }

  /// - Returns: whether the user was typing.
  @discardableResult
  mutating func stop(_ key: EphemeralKey) -> Bool {
    guard isTyping(key) else { return false }
    typers[key]?.isTyping = false
    return true
  }

  /// Removes the next user whose typing has lasted too long, and those before who have stopped.
  mutating func takeExpired(now: Int64) -> EphemeralKey? {
    while let timer = timers.min, timer.at <= now {
      timers.removeMin()
      guard let typer = typers[timer.key] else { continue }
      if typer.isTyping, typer.until > now {
        timers.insert(Timer(at: typer.until, key: timer.key))
        continue
      }
      typers[timer.key] = nil
      if typer.isTyping { return timer.key }
    }
    return nil
  }

  var isLoose: Bool { typers.isLoose }
  mutating func shrink() { typers.shrinkIfLoose() }
}
