private import OrderedCollections

/// The members of a room and their marks, in no particular order.
///
/// There is an entry for each user in each room, and most of them are idle. So the users and their
/// marks are two arrays without gaps, with an index of one byte for each slot: this takes about half
/// of the memory of a dictionary, which has an empty slot of full size for every second entry.
public struct Members: Sendable, ExpressibleByDictionaryLiteral {
  private var marks: OrderedDictionary<String, MemberMarks> = [:]

  public init(dictionaryLiteral members: (String, MemberMarks)...) {
    for (user, marks) in members { self[user] = marks }
  }

  public var count: Int { marks.count }
  public var isEmpty: Bool { marks.isEmpty }
  var users: [String] { marks.keys.elements }
  var all: some Sequence<(user: String, marks: MemberMarks)> {
    marks.lazy.map { (user: $0.key, marks: $0.value) }
  }

  /// The marks of a user; `nil` if the user is not a member.
  public subscript(user: String) -> MemberMarks? {
    get { marks[user] }
    set {
      if let newValue { marks[user] = newValue } else { remove(user) }
    }
  }

  /// Returns the place of a member, which is valid until a member is removed.
  func place(of user: String) -> Int? { marks.index(forKey: user) }

  /// The marks of the member at a place.
  subscript(place place: Int) -> MemberMarks {
    get { marks.values[place] }
    _modify { yield &marks.values[place] }
  }

  /// Removes a user. The last member takes the free place, so that the cost does not depend on the
  /// number of members.
  /// - Returns: whether the user was a member.
  @discardableResult
  mutating func remove(_ user: String) -> Bool {
    guard let place = place(of: user) else { return false }
    marks.swapAt(place, marks.count - 1)
    marks.removeLast()
    return true
  }
}
