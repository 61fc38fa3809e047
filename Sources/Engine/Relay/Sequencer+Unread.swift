import Wire

/// Counts unread entries: text and data of other users after the read mark.
///
/// Only if entries of the user's own follow the mark, or hidden ones may, the entries are read, from the head back, and
/// then run by run (`ContentRun`): a user's million entries in a row cost one lookup.
extension Sequencer {
  /// Up to here unread entries are counted exactly, although the user's own are among them.
  public static let unreadLimit: Int64 = 1000
  /// The number of runs after which a batch counts for no further mark, and a slice of memberships
  /// ends. One count reads at most `2 * unreadLimit + 3`, since every second run is of others.
  public static let unreadRunsLimit = 1024

  /// Returns the unread entries of a member as of the last batch.
  /// - Parameter runs: the number of runs that were read so far.
  static func unread(
    of user: String, _ room: StoredMembership, runs: inout Int, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Unread {
    guard let marks = room.marks else { return Unread() }
    let base = max(marks.read, room.first - 1)
    guard base < room.head else { return Unread() }
    func changes(through seq: Int64) throws(StoreFailure) -> Int64 {
      room.changes == 0
        ? 0 : try store.changes(inRoom: room.number, through: seq, total: room.changes)
    }
    let contents = try room.head - base - (room.changes - changes(through: base))
    let hidden = room.direct.hidden.filter { $0.sender != user }
    guard contents > 0, marks.sent > base || !hidden.isEmpty, runs < unreadRunsLimit else {
      return Unread(contents)
    }
    var unread = Unread()
    // The number of changes up to `upper`.
    var (upper, before) = (room.head, room.changes)
    // Hidden runs do not count, and would let a count go on forever.
    let runsLimit = runs + 2 * Int(unreadLimit) + 3
    while upper > base {
      if unread.count > unreadLimit || runs >= runsLimit {
        unread.isMore = true
        break
      }
      runs += 1
      guard let run = try store.contentRun(endingAt: upper, inRoom: room.number), run.last > base
      else { break }
      let lower = max(run.others, base)
      // What lies between the run and `upper` are changes.
      let changesInRun = try before - (upper - run.last) - changes(through: lower)
      if run.sender != user { unread.count += run.last - lower - changesInRun }
      for hidden in hidden where hidden.sender == run.sender {
        let (first, last) = (max(hidden.first, lower + 1), min(hidden.last ?? .max, run.last))
        guard first <= last else { continue }
        unread.count -=
          try last - first + 1 - (changes(through: last) - changes(through: first - 1))
      }
      before -= upper - run.last + changesInRun
      upper = lower
    }
    return unread
  }

  /// Returns the unread entries of a member of a room in memory, or an upper bound if the store
  /// cannot be read or the batch has read too much: an `activity` that counts too many is better
  /// than none.
  mutating func unreadIfKnown(
    _ room: Int, of user: String, runs: inout Int, _ store: inout some EntryLookup
  ) -> Unread {
    guard let number = rooms[room].number, let marks = rooms[room].members[user] else {
      return Unread()
    }
    var stored = StoredMembership(
      number: number, room: rooms[room].name, head: rooms[room].head, first: rooms[room].first,
      lastAt: rooms[room].lastAt, changes: rooms[room].changes, marks: marks)
    stored.direct = rooms[room].direct
    return (try? Self.unread(of: user, stored, runs: &runs, &store))
      ?? Unread(max(0, stored.head - max(marks.read, stored.first - 1)))
  }
}
