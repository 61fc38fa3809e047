/// The memberships and marks of refused batches: no client sends them again, so the log does, with its
/// next batches.
struct MemberRetries {
  struct Member: Hashable, Comparable {
    var room: String
    var user: String

    static func < (a: Self, b: Self) -> Bool { (a.room, a.user) < (b.room, b.user) }
  }

  /// The membership and marks that a user is to have in a room once the store accepts them.
  struct Retry {
    var belongs: Bool
    var marks = MemberMarks()
  }

  /// Beyond it, further ones are lost.
  static let limit = 10_000

  private var retries: [Member: Retry] = [:]

  var count: Int { retries.count }
  /// Those that are kept, in a fixed order.
  var members: [Member] { retries.keys.sorted() }

  subscript(member: Member) -> Retry? { retries[member] }

  /// Keeps a retry. The later one decides whether the user belongs to the room; marks never go back.
  mutating func keep(_ retry: Retry, for member: Member) {
    var retry = retry
    if let earlier = retries[member] {
      if retry.belongs, earlier.belongs {
        retry.marks.read = max(retry.marks.read, earlier.marks.read)
        retry.marks.received = max(retry.marks.received, earlier.marks.received)
      }
    } else if retries.count >= Self.limit {
      return
    }
    retries[member] = retry
  }

  mutating func take(_ member: Member) -> Retry? { retries.removeValue(forKey: member) }

  /// The number of rooms to which a user will belong.
  func rooms(of user: String) -> Int {
    retries.count { $0.key.user == user && $0.value.belongs }
  }
}
