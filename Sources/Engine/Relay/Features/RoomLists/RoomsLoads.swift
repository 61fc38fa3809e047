import DequeModule

/// The lists of rooms that the log is asked for: slice by slice, in turn, one slice at a time.
struct RoomsLoads {
  struct Load {
    var watch: Slot<UserWatch>
    var ticket: UInt32
  }
  private var waiting = Deque<Load>()
  /// The load whose slice the log was asked for.
  private(set) var current: Load?
  private var lastTicket: UInt32 = 0

  /// Returns a number that identifies a request to the log; never 0.
  mutating func nextTicket() -> UInt32 {
    lastTicket = lastTicket == .max ? 1 : lastTicket + 1
    return lastTicket
  }

  var isEmpty: Bool { current == nil && waiting.isEmpty }

  mutating func append(_ watch: Slot<UserWatch>, ticket: UInt32) {
    waiting.append(Load(watch: watch, ticket: ticket))
  }

  /// Starts the next load whose user still waits for it, unless one is under way.
  mutating func start(in lists: borrowing WatchedRooms) -> Load? {
    guard current == nil else { return nil }
    while let load = waiting.popFirst() {
      guard lists.users.contains(load.watch), lists.users[load.watch].state == .loading,
        lists.users[load.watch].ticket == load.ticket
      else { continue }
      current = load
      return load
    }
    return nil
  }

  /// The log has answered with a ticket.
  /// - Returns: whether it is the answer to the slice that is under way.
  mutating func finish(ticket: UInt32) -> Bool {
    guard current?.ticket == ticket else { return false }
    current = nil
    return true
  }
}
