import Synchronization

/// The budgets of all users, or of whatever else pays for requests. Shared by the loops; a lock for
/// each look-up, which happens once for a connection and once for a request over HTTP.
public final class Budgets<Payer: Hashable & Sendable>: Sendable {
  private struct Table {
    var budgets: [Payer: UserBudget] = [:]
    /// How many of them have a connection.
    var connected = 0
    /// Those that have rested are forgotten when there are so many.
    var sweepAt = 1024
    var nextSweep = Int64.min
  }

  /// More payers than this, none of whom has rested: newcomers without a connection wait.
  private static var payersLimit: Int { 262_144 }
  /// How long newcomers wait, and how long it takes until the table is looked through again.
  private static var waitMilliseconds: Int64 { 1000 }

  private let limits: UserBudget.Limits
  private let table = Mutex(Table())

  public init(_ limits: UserBudget.Limits) { self.limits = limits }

  /// How many are remembered.
  public var count: Int { table.withLock { $0.budgets.count } }

  /// Pays for a request over HTTP, which is refused rather than slowed.
  /// - Parameters:
  ///   - bytes: of its content.
  ///   - now: milliseconds of the monotonic clock.
  /// - Returns: `nil`, or the milliseconds to wait.
  public func take(
    _ charge: UserBudget.Charge, bytes: Int, from payer: Payer, now: Int64
  ) -> Int64? {
    if limits.isUnlimited { return nil }
    guard let budget = budget(of: payer, now: now) else { return Self.waitMilliseconds }
    return budget.take(charge, bytes: bytes, now: now)
  }

  /// What a payer was charged for as a send has made no entry: it was a request.
  public func noteDuplicate(of payer: Payer) {
    table.withLock { $0.budgets[payer] }?.noteDuplicate()
  }

  private func budget(of payer: Payer, now: Int64) -> UserBudget? {
    table.withLock { table in
      if let budget = table.budgets[payer] { return budget }
      // Looking at a crowd for each newcomer would be what the crowd is after.
      if table.budgets.count >= table.sweepAt, now >= table.nextSweep {
        Self.forgetRested(&table, now)
      }
      guard table.budgets.count < Self.payersLimit else { return nil }
      return Self.add(payer, UserBudget(limits, now: now), to: &table)
    }
  }

  /// Counts a connection of the payer in.
  /// - Returns: its budget, and its rank with it; `nil` where the payer has too many connections.
  func connect(_ payer: Payer, now: Int64) -> (UserBudget, rank: UInt64)? {
    table.withLock { table in
      if table.budgets.count >= table.sweepAt, now >= table.nextSweep {
        Self.forgetRested(&table, now)
      }
      // Connections have a limit of their own, which bounds these.
      let budget =
        table.budgets[payer] ?? Self.add(payer, UserBudget(limits, now: now), to: &table)
      // Within the lock, so that nobody forgets it in between.
      let isFirst = budget.isUnconnected
      guard let rank = budget.connect() else { return nil }
      if isFirst { table.connected += 1 }
      return (budget, rank)
    }
  }

  /// Counts a connection out.
  func disconnect(_ budget: UserBudget, rank: UInt64) {
    table.withLock { table in
      if budget.disconnect(rank) { table.connected -= 1 }
    }
  }

  /// Forgets those who have rested, if a crowd has left many: to be called now and then.
  public func forgetRested(now: Int64) {
    table.withLock { table in
      let unconnected = table.budgets.count - table.connected
      guard unconnected > max(1024, table.connected), now >= table.nextSweep else { return }
      Self.forgetRested(&table, now)
      table.budgets = Dictionary(uniqueKeysWithValues: table.budgets.map { ($0.key, $0.value) })
    }
  }

  /// Whether there is nothing to keep count of.
  var isUnlimited: Bool { limits.isUnlimited }

  private static func add(
    _ payer: Payer, _ budget: UserBudget, to table: inout Table
  ) -> UserBudget {
    table.budgets[payer] = budget
    return budget
  }

  private static func forgetRested(_ table: inout Table, _ now: Int64) {
    table.budgets = table.budgets.filter { !$0.value.isRested(now) }
    table.sweepAt = min(payersLimit, max(1024, table.budgets.count * 2))
    // So that a table full of connections is not looked through for each further one.
    table.nextSweep = now + waitMilliseconds
  }
}
