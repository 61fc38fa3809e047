import Folding
import Synchronization

/// The users who have connected or have an account: `people` lists them after the directory.
///
/// One for all loops of a process; thread-safe. The users are in the order of their names, in runs of
/// at most `runLimit`: an insertion moves the users of one run, and a page of `people` copies runs by
/// reference. A user takes 50 bytes, and with the longest user and display names 480; looking at 20,000
/// of them takes 2 ms.
public final class SeenPeople: Sendable {
  /// The maximum number of users; beyond it further users are not listed.
  public static let limit = 100_000

  private static let runLimit = 256

  private struct Table {
    /// Ascending by user; none is empty.
    var runs: [[SeenPerson]] = []
    var count = 0
    /// The pictures of those who have one.
    var avatars: [String: String] = [:]
    var isLoading = false

    /// Returns the place of the first user at or after `user` within the run that may have it; it is
    /// beyond the run if all of its users are before.
    func place(of user: String) -> (run: Int, index: Int)? {
      if runs.isEmpty { return nil }
      let run = max(0, runs.partitioningIndex { $0[0].user > user } - 1)
      return (run, runs[run].partitioningIndex { $0.user >= user })
    }

    func find(_ user: String) -> (run: Int, index: Int)? {
      guard let place = place(of: user), place.index < runs[place.run].count,
        runs[place.run][place.index].user == user
      else { return nil }
      return place
    }

    mutating func insert(_ person: SeenPerson) {
      count += 1
      guard let (run, index) = place(of: person.user) else {
        runs = [[person]]
        return
      }
      if runs[run].count < runLimit {
        runs[run].insert(person, at: index)
      } else if index == runLimit, run == runs.count - 1 {
        // A list that arrives in order, as from the store, fills its runs.
        runs.append([person])
      } else {
        runs.insert(Array(runs[run][(runLimit / 2)...]), at: run + 1)
        runs[run] = Array(runs[run][..<(runLimit / 2)])
        let half = index / (runLimit / 2)
        runs[run + half].insert(person, at: index - half * (runLimit / 2))
      }
    }
  }

  private let table = Mutex(Table())

  public init() {}

  /// The number of users.
  public var count: Int { table.withLock { $0.count } }

  var isFull: Bool { count >= Self.limit }

  /// Adds a user, or changes the display name of a user.
  /// - Parameters:
  ///   - user: a valid user name.
  ///   - name: one line of at most 200 bytes, which the caller checks; `nil` keeps the known one.
  public func record(_ user: String, name: String? = nil) {
    table.withLock { Self.record(user, name, &$0) }
  }

  /// Adds a user with an account, or changes the display name and the picture of one.
  /// - Parameter avatar: the URL of the picture, of a bounded length.
  public func record(_ user: String, name: String, avatar: String?) {
    table.withLock { table in
      Self.record(user, name, &table)
      if table.avatars[user] != avatar, table.find(user) != nil { table.avatars[user] = avatar }
    }
  }

  private static func record(_ user: String, _ name: String?, _ table: inout Table) {
    if let (run, index) = table.find(user) {
      // Most often nothing changes, and a page may share the run.
      guard let name, table.runs[run][index].name != name else { return }
      table.runs[run][index].name = name
    } else if table.count < limit {
      table.insert(SeenPerson(user: user, name: name))
    }
  }

  /// Removes a user. The next connection adds them again, and so does the next start if the store
  /// knows when they were last online.
  public func remove(_ user: String) {
    table.withLock { table in
      guard let (run, index) = table.find(user) else { return }
      table.count -= 1
      table.avatars[user] = nil
      table.runs[run].remove(at: index)
      if table.runs[run].isEmpty { table.runs.remove(at: run) }
    }
  }

  /// Returns a user with the display name, if one is known.
  func person(_ user: String) -> Person? {
    table.withLock { table in
      guard let (run, index) = table.find(user), let name = table.runs[run][index].name else {
        return nil
      }
      return Person(user: user, name: name, avatar: table.avatars[user])
    }
  }

  /// Returns the URL of a user's picture, if one is known.
  func avatar(of user: String) -> String? { table.withLock { $0.avatars[user] } }

  /// Returns the next users in the order of names, at most `runLimit`; none at the end.
  /// - Parameter user: those after it, whether it is listed or not.
  func run(after user: String) -> ArraySlice<SeenPerson> {
    table.withLock { table in
      guard var (run, index) = table.place(of: user) else { return [] }
      if index < table.runs[run].count, table.runs[run][index].user == user { index += 1 }
      if index == table.runs[run].count { (run, index) = (run + 1, 0) }
      return run < table.runs.count ? table.runs[run][index...] : []
    }
  }

  /// Returns whether the caller is the first: the loop that adds the users of the store, and those who
  /// connect to other relays.
  func beginLoading() -> Bool {
    table.withLock { table in
      defer { table.isLoading = true }
      return !table.isLoading
    }
  }
}

/// A user of `SeenPeople`.
struct SeenPerson {
  let user: String
  /// The display name, if one is known.
  var name: String? { didSet { folded = Self.fold(name) } }
  private var folded: [UInt8]

  init(user: String, name: String?) {
    self.user = user
    self.name = name
    folded = Self.fold(name)
  }

  private static func fold(_ name: String?) -> [UInt8] { name.map { TextFolding.utf8($0) } ?? [] }

  /// Whether the display name or the user contains a text.
  /// - Parameter text: folded, as UTF-8.
  func matches(_ text: [UInt8]) -> Bool {
    Self.contains(user.utf8.span, text) || Self.contains(folded.span, text)
  }

  private static func contains(_ text: Span<UInt8>, _ part: [UInt8]) -> Bool {
    var start = 0
    while start + part.count <= text.count {
      var length = 0
      while length < part.count, text[start + length] == part[length] { length += 1 }
      if length == part.count { return true }
      start += 1
    }
    return false
  }
}
