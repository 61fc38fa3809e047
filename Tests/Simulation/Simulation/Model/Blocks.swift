internal import Relay
internal import Wire

/// Which user has blocked which other one, replayed from the commits.
struct Blocks {
  struct Pair: Hashable {
    var user: String
    var blocked: String

    init(_ user: String, blocked: String) {
      self.user = user
      self.blocked = blocked
    }

    init(_ block: LogRequest.Block) { self.init(block.user, blocked: block.blocked) }

    /// The same for both directions.
    fileprivate var users: Set<String> { [user, blocked] }
  }

  /// An entry of a direct room that is not shown to one of its users.
  struct Hidden {
    var from: String
    /// Whether the block was certainly in force when the entry was made.
    var isCertain: Bool
  }

  /// Since when two users are separated.
  struct Separation {
    /// Milliseconds of the monotonic clock.
    var at: Int64
    /// Since when a client knows it; `nil` = none does.
    var knownAt: Int64?
  }

  /// All sets of blocked users that a user has had, in order.
  private var states: [String: [Set<String>]] = [:]
  private var separations: [Set<String>: Separation] = [:]
  /// The head of the direct room when a block began.
  private var heads: [Pair: Int64] = [:]
  /// Blocks that the current batch may begin or end, and those of refused batches since the last commit.
  var inDoubt: Set<Pair> = []
  var refused: Set<Pair> = []

  var users: Set<String> { Set(states.keys).union(inDoubt.union(refused).map(\.user)) }

  func states(of user: String) -> [Set<String>] { states[user] ?? [[]] }

  func blocked(by user: String) -> Set<String> { states[user]?.last ?? [] }

  func contains(_ pair: Pair) -> Bool { blocked(by: pair.user).contains(pair.blocked) }

  func separation(of a: String, _ b: String) -> Separation? { separations[[a, b]] }

  /// Returns the head of the direct room of two users when the first of their blocks began.
  func head(ofSeparation a: String, _ b: String) -> Int64? {
    [Pair(a, blocked: b), Pair(b, blocked: a)].compactMap { heads[$0] }.min()
  }

  mutating func apply(_ pair: Pair, on: Bool, head: Int64, now: Int64) {
    var set = blocked(by: pair.user)
    if on { set.insert(pair.blocked) } else { set.remove(pair.blocked) }
    states[pair.user, default: [[]]].append(set)
    heads[pair] = on ? head : nil
    if on {
      if separations[pair.users] == nil { separations[pair.users] = Separation(at: now) }
    } else if !contains(Pair(pair.blocked, blocked: pair.user)) {
      separations[pair.users] = nil
    }
  }

  /// Records that a client knows that two users are separated.
  mutating func recordKnown(_ pair: Pair, now: Int64) {
    if separations[pair.users]?.knownAt == nil { separations[pair.users]?.knownAt = now }
  }

  /// Returns whether a new entry of a direct room is hidden from its other user; `nil` if that is unknown.
  /// To be called before the changes of its commit are applied.
  func hides(_ entry: Entry, changes: [BlockChange], requests: [LogRequest]) -> Bool? {
    guard let peer = RoomName.peer(in: entry.room, of: entry.from) else { return false }
    let pair = Pair(peer, blocked: entry.from)
    let changes = changes.filter { Pair($0.user, blocked: $0.blocked) == pair }
    guard let change = changes.first else { return contains(pair) }
    // The log takes the requests of a batch in order.
    var (blocks, appends): ([Int], [Int]) = ([], [])
    for (place, request) in requests.enumerated() {
      switch request {
      case .block(let block) where Pair(block) == pair: blocks.append(place)
      case .append(let append) where Ledger.Identity(append) == Ledger.Identity(entry):
        appends.append(place)
      default: break
      }
    }
    guard changes.count == 1, blocks.count == 1, appends.count == 1 else { return nil }
    return blocks[0] < appends[0] ? change.at != nil : contains(pair)
  }
}

extension Ledger.Identity {
  init(_ append: LogRequest.Append) {
    self.init(room: append.room, user: append.user, id: append.id)
  }
}
