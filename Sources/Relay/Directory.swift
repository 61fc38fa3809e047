/// Where people come from: a file, the members of an organisation, the followers of an account.
///
/// The contract, which every conformer is held to by one test suite:
/// - **Complete or not at all.** A list is published when all of its pages are there, in the
///   directory's order. What fails on the way leaves the last good list in place, and is told.
/// - **Kept.** The last good list outlives the process: it is published at the start, with the time
///   at which it was made, before anything is asked of anybody.
/// - **No more than is due.** Nothing is asked while the directory's limit is reached.
///
/// All methods may be called from any thread; none blocks.
public protocol Directory: AnyObject, Sendable {
  /// Begins to look for people, and goes on until `stop`.
  /// - Parameter publish: called on a thread of the directory's, once at the start and then whenever
  ///   the list or the problem is another; must not block.
  func start(publish: @escaping @Sendable (DirectoryUpdate) -> Void)

  /// Ends; returns when `publish` will not be called again.
  func stop()
}

/// What a directory has to say: the last good list, and what keeps it from a newer one.
public struct DirectoryUpdate: Sendable {
  public var people: PeopleList
  /// `nil` while all is well.
  public var problem: DirectoryProblem?

  public init(people: PeopleList, problem: DirectoryProblem? = nil) {
    self.people = people
    self.problem = problem
  }
}

/// Why the list is not newer.
public enum DirectoryProblem: Error, Equatable, Sendable {
  /// Asked too often; `until` is when that ends, in milliseconds since 1970, where it is known.
  case limited(until: Int64?)
  /// A short text for a person, and an id for whoever is asked for help.
  case failed(String, support: String?)
}

/// Somebody in a directory, as the relay names them.
public struct Person: Equatable, Sendable {
  /// A valid user name: what the directory calls them, made to fit.
  public var user: String
  /// What the directory calls them, as it is.
  public var name: String
  /// Where their picture is.
  public var avatar: String?

  public init(user: String, name: String, avatar: String? = nil) {
    self.user = user
    self.name = name
    self.avatar = avatar
  }
}

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
