/// The names of rooms without entries, by member: the store does not know them.
///
/// Most users have at most one, which needs no memory of its own.
struct UnstoredRooms {
  private var first: CompactDictionary<String, String> = [:]
  /// Those besides the first.
  private var others: [String: Set<String>] = [:]

  var isEmpty: Bool { first.isEmpty }

  func count(of user: String) -> Int {
    first[user] == nil ? 0 : 1 + (others[user]?.count ?? 0)
  }

  /// Returns the user's rooms with a later name, unordered.
  func rooms(of user: String, after name: String) -> [String] {
    guard let first = first[user] else { return [] }
    let others = others[user]?.filter { $0 > name } ?? []
    return first > name ? others + [first] : Array(others)
  }

  mutating func insert(_ room: String, of user: String) {
    guard let present = first[user] else { return first[user] = room }
    if present != room { others[user, default: []].insert(room) }
  }

  mutating func remove(_ room: String, of user: String) {
    if first[user] == room {
      first[user] = others[user]?.popFirst()
    } else {
      others[user]?.remove(room)
    }
    if others[user]?.isEmpty == true { others[user] = nil }
  }
}
