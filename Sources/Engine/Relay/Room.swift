/// A room as one loop knows it.
struct Room {
  let name: String
  /// The last `seq` according to commits and to the log's answers.
  var head: Int64 = 0
  var firstKept: Int64 = 1
  /// Live and lagging.
  var subscribers: [Slot<Subscription>] = []
  /// The number of subscriptions in any state, and of lists that have the room.
  var uses = 0
  var tail = RoomTail()
  /// The JSON of the last entry if the tail has lost it and `activity` needs it.
  var last: [UInt8] = []
  /// The last entry of each user of a direct room that was hidden from the other one; `nil` for all other
  /// rooms.
  var hidden: [String: Int64]?
  /// This turn's new entries.
  var staged = Turn.Chain()
  var pace = Pace()
  /// How many entries it has had lately.
  var recent = RecentCount()

  init(name: String) { self.name = name }

  /// Whether an entry after `cursor` may be hidden from a user: then storage has what is shown to them.
  func hides(after cursor: Int64, from user: String) -> Bool {
    hidden?.contains { $0.key != user && $0.value > cursor } ?? false
  }

  mutating func recordHidden(_ seq: Int64, of sender: String) {
    hidden = hidden ?? [:]
    hidden?[sender] = seq
  }

  var isUnused: Bool { uses == 0 && tail.isEmpty && staged.first.isNone }
}
