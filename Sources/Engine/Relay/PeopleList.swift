/// The people of a directory at one time, in its order, each user once. Shared by all loops.
public final class PeopleList: Sendable {
  public let people: [Person]
  /// Which directory this is, as its configuration says: `org:swiftlang`.
  public let source: String
  /// When it was read, in milliseconds since 1970; 0 if it never was.
  public let asOf: Int64
  /// How many there were whose names do not fit.
  public let leftOut: Int
  private let places: [String: Int32]
  /// What is searched of each: name and user in lower case, one behind the other, so that whoever
  /// looks through a hundred thousand people does it in one stretch of memory.
  private let searched: [UInt8]
  private let searchedEnds: [Int]

  /// - Parameter people: of a user who is there twice the first counts.
  public init(_ people: [Person], source: String, asOf: Int64, leftOut: Int = 0) {
    var kept: [Person] = []
    var places: [String: Int32] = [:]
    var searched: [UInt8] = []
    var searchedEnds: [Int] = []
    kept.reserveCapacity(people.count)
    for person in people where places[person.user] == nil {
      places[person.user] = Int32(kept.count)
      kept.append(person)
      searched += Array(person.name.lowercased().utf8)
      searched.append(0)
      searched += Array(person.user.utf8)
      searchedEnds.append(searched.count)
    }
    self.searched = searched
    self.searchedEnds = searchedEnds
    self.people = kept
    self.places = places
    self.source = source
    self.asOf = asOf
    self.leftOut = leftOut
  }

  /// Where a user stands in `people`.
  public func index(of user: String) -> Int? { places[user].map(Int.init) }

  /// Whether name or user of somebody contain a text.
  /// - Parameter text: in lower case, as UTF-8.
  func matches(_ place: Int, _ text: [UInt8]) -> Bool {
    guard let first = text.first else { return true }
    let end = searchedEnds[place] - text.count
    var start = place == 0 ? 0 : searchedEnds[place - 1]
    while start <= end {
      if searched[start] == first, searched[start..<start + text.count].elementsEqual(text) {
        return true
      }
      start += 1
    }
    return false
  }
}
