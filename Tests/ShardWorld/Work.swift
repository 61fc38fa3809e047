/// The work of a thread of the relay for one batch or one request, as counts that are the same on
/// every machine, and the simulated time that follows from them.
///
/// It counts expensive operations: entries that the store looks up or reads, names that it lists,
/// entries that are appended, and bytes that are encoded. Without these counts a simulated relay
/// would do everything in no time, and no client would ever wait.
public struct Work {
  public init() {}

  /// Entries and rooms that were looked up individually.
  public var lookups = 0
  /// Edits, deletions and reactions that were read to fold entries.
  public var changes = 0
  /// Entries that were read sequentially, and names that were listed.
  public var rows = 0
  /// Runs of entries of one sender that were looked up to count unread entries.
  public var runs = 0
  public var appended = 0
  public var bytes = 0

  public static func += (left: inout Work, right: Work) {
    left.lookups += right.lookups
    left.changes += right.changes
    left.rows += right.rows
    left.runs += right.runs
    left.appended += right.appended
    left.bytes += right.bytes
  }

  /// The time for these counts on the machine on which the product was measured, with SQLite: 20 µs
  /// per index lookup, 5 µs per committed entry, 2 µs per sequentially read row.
  public var microseconds: Int {
    20 * (lookups + runs + changes) + 5 * appended + 2 * rows + bytes / 1000
  }

  /// The factor by which the simulated machine is slower: a run has hundreds of entries where a
  /// real attack has tens of thousands.
  public static let slowdown = 20

  public var milliseconds: Int64 { Int64(microseconds * Self.slowdown / 1000) }
}

/// Counts the operations of a store. Each thread has its own.
public final class WorkMeter {
  /// What is counted by itself as well.
  public enum Operation: Int, CaseIterable {
    /// Rooms that were read, also for lists.
    case rooms
    case membershipCount
    /// What a user is in a room.
    case standings
    /// Entries that were read, and lookups of an epoch's last one.
    case entries, epochs
    /// Users of reactions, and counts of changes by a reader.
    case users, changeCounts
    /// Runs of content.
    case runs
    case others
  }

  private var work = Work()
  private var totals = Array(repeating: 0, count: Operation.allCases.count)

  public init() {}

  /// Returns the work since the last call.
  public func take() -> Work {
    defer { work = Work() }
    return work
  }

  /// Returns how often there was such an operation so far.
  public func total(_ operation: Operation) -> Int { totals[operation.rawValue] }

  func lookUp(_ operation: Operation = .others) {
    work.lookups += 1
    totals[operation.rawValue] += 1
  }

  func lookUpRun() {
    work.runs += 1
    totals[Operation.runs.rawValue] += 1
  }

  func read(rows: Int, _ operation: Operation = .others) {
    work.rows += rows
    totals[operation.rawValue] += rows
  }

  func read(changes: Int, _ operation: Operation = .others) {
    work.changes += changes
    totals[operation.rawValue] += changes
  }

  func append(_ count: Int) { work.appended += count }
}
