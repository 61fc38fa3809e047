import Folding

/// The people of a directory at one time, in its order, without duplicates. Shared by all loops.
public final class PeopleList: Sendable {
  public let people: [Person]
  /// The directory as named in the configuration: `org:swiftlang`.
  public let source: String
  /// The time of the fetch, in milliseconds since 1970; 0 if there was none.
  public let asOf: Int64
  /// The number of people who were left out because their names do not make valid user names.
  public let leftOut: Int
  private let places: [String: Int32]
  /// The text that is searched, name and user of each, folded, in one contiguous buffer: so a search
  /// through a hundred thousand people scans memory linearly.
  private let searched: [UInt8]
  private let searchedEnds: [Int]

  /// - Parameter people: of duplicate users the first one counts.
  public init(_ people: [Person], source: String, asOf: Int64, leftOut: Int = 0) {
    var kept: [Person] = []
    var places: [String: Int32] = [:]
    var searched: [UInt8] = []
    var searchedEnds: [Int] = []
    kept.reserveCapacity(people.count)
    for person in people where places[person.user] == nil {
      places[person.user] = Int32(kept.count)
      kept.append(person)
      searched += TextFolding.utf8(person.name)
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

  /// Returns the index of a user in `people`.
  public func index(of user: String) -> Int? { places[user].map(Int.init) }

  /// Whether the name or user at an index contains a text.
  /// - Parameter text: folded, as UTF-8.
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
