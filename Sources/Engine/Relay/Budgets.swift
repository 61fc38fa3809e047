import Synchronization

/// The rate limits of all users, or of other payers such as addresses. Shared by the loops; each
/// look-up takes a lock, once per connection and once per HTTP request.
public final class Budgets<Payer: Hashable & Sendable>: Sendable {
  private struct Table {
    var budgets: [Payer: UserBudget] = [:]
    /// The number of payers that have a connection.
    var connected = 0
    /// At this size budgets that have recovered completely are removed.
    var sweepAt = 1024
    var nextSweep = Int64.min
  }

  /// The maximum number of payers whose budgets are in use; new ones without a connection have to
  /// wait beyond it.
  private static var payersLimit: Int { 262_144 }
  /// How long new payers have to wait, and the minimum time between two scans of the table.
  private static var waitMilliseconds: Int64 { 1000 }

  /// Of budgets that are not observed.
  private let terms: UserBudget.Terms
  private let observe: (@Sendable (Payer) -> any BudgetObserver)?
  private let table = Mutex(Table())

  public convenience init(_ limits: UserBudget.Limits) { self.init(limits, observe: nil) }

  /// - Parameter observe: returns the observer of a payer's new budget.
  package init(
    _ limits: UserBudget.Limits, observe: (@Sendable (Payer) -> any BudgetObserver)?
  ) {
    terms = UserBudget.Terms(limits)
    self.observe = limits.isUnlimited ? nil : observe
  }

  /// The number of budgets in the table.
  public var count: Int { table.withLock { $0.budgets.count } }

  /// Charges for an HTTP request, which is refused if the budget is exhausted, rather than slowed.
  /// - Parameters:
  ///   - bytes: the length of its content.
  ///   - now: milliseconds of the monotonic clock.
  /// - Returns: `nil`, or the milliseconds to wait.
  public func take(
    _ charge: UserBudget.Charge, bytes: Int, from payer: Payer, now: Int64
  ) -> Int64? {
    let sends = charge == .send ? 1 : 0
    return take(sends: sends, requests: 1 - sends, bytes: bytes, from: payer, now: now)
  }

  /// As above, for several sends and other requests at once. They are charged if the budget allows
  /// the first one of each kind, and may leave a debt.
  public func take(
    sends: Int, requests: Int, bytes: Int, from payer: Payer, now: Int64
  ) -> Int64? {
    if isUnlimited { return nil }
    guard let budget = budget(of: payer, now: now) else { return Self.waitMilliseconds }
    return budget.take(sends: sends, requests: requests, bytes: bytes, now: now)
  }

  /// Charges the last send as a request instead, because it was a duplicate.
  public func refundDuplicate(of payer: Payer) {
    table.withLock { $0.budgets[payer] }?.refundDuplicate()
  }

  /// Gives back what the payer has paid for requests, which then cost nothing.
  public func refund(requests: Int, to payer: Payer) {
    guard let budget = table.withLock({ $0.budgets[payer] }) else { return }
    for _ in 0..<requests { budget.refundRequest() }
  }

  private func budget(of payer: Payer, now: Int64) -> UserBudget? {
    table.withLock { table in
      if let budget = table.budgets[payer] { return budget }
      // A scan for each new payer would be what an attacker with many names wants.
      if table.budgets.count >= table.sweepAt, now >= table.nextSweep {
        Self.evictIdle(&table, now)
      }
      guard table.budgets.count < Self.payersLimit else { return nil }
      return add(payer, to: &table, now)
    }
  }

  /// Returns the observer of a payer's budget, as in `UserBudget.observer`; a payer who has not been here
  /// yet may come.
  package func observer(of payer: Payer, now: Int64) -> (any BudgetObserver)? {
    observe == nil ? nil : budget(of: payer, now: now)?.observer(now: now)
  }

  /// Counts a new connection of the payer.
  /// - Returns: the payer's budget, and the rank of the connection in it; `nil` if the payer has
  ///   too many connections.
  func connect(_ payer: Payer, now: Int64) -> (UserBudget, rank: UInt64)? {
    table.withLock { table in
      if table.budgets.count >= table.sweepAt, now >= table.nextSweep {
        Self.evictIdle(&table, now)
      }
      // The number of connections has a limit of its own, which bounds these.
      let budget = table.budgets[payer] ?? add(payer, to: &table, now)
      // Within the lock, so that the budget is not removed in between.
      let isFirst = budget.isUnconnected
      guard let rank = budget.connect(now: now) else { return nil }
      if isFirst { table.connected += 1 }
      return (budget, rank)
    }
  }

  /// Counts a connection that has ended.
  func disconnect(_ budget: UserBudget, rank: UInt64) {
    table.withLock { table in
      if budget.disconnect(rank) { table.connected -= 1 }
    }
  }

  /// Removes budgets that have recovered completely if there are many. To be called regularly.
  public func evictIdle(now: Int64) {
    table.withLock { table in
      let unconnected = table.budgets.count - table.connected
      guard unconnected > max(1024, table.connected), now >= table.nextSweep else { return }
      Self.evictIdle(&table, now)
      table.budgets = Dictionary(uniqueKeysWithValues: table.budgets.map { ($0.key, $0.value) })
    }
  }

  /// Whether no limit applies.
  var isUnlimited: Bool { terms.limits.isUnlimited }

  private func add(_ payer: Payer, to table: inout Table, _ now: Int64) -> UserBudget {
    let terms = observe.map { UserBudget.Terms(self.terms.limits, observer: $0(payer)) }
    let budget = UserBudget(terms ?? self.terms, now: now)
    table.budgets[payer] = budget
    return budget
  }

  private static func evictIdle(_ table: inout Table, _ now: Int64) {
    table.budgets = table.budgets.filter { !$0.value.isFull(now) }
    table.sweepAt = min(payersLimit, max(1024, table.budgets.count * 2))
    // This keeps a table that is full of connections from being scanned for each new one.
    table.nextSweep = now + waitMilliseconds
  }
}
