import Directories
import Platform
import Relay
import Synchronization
import TestSupport

/// Receives the lists and the problems of a directory.
final class Observer: Sendable {
  private let updates: Mailbox<DirectoryUpdate>
  private let all = Mutex<[DirectoryUpdate]>([])
  private let reports = Mutex<[String]>([])

  init() throws { updates = try Mailbox() }

  /// Starts a directory, and returns it.
  func start<Source: Directory>(_ directory: Source) -> Source {
    directory.start(publish: publish)
    return directory
  }

  func publish(_ update: DirectoryUpdate) { updates.post(update) }

  func report(_ sentence: String) { reports.withLock { $0.append(sentence) } }

  /// The problems reported to the operator so far.
  var told: [String] { reports.withLock { $0 } }

  /// The lists published so far.
  var seen: [DirectoryUpdate] {
    var news: [DirectoryUpdate] = []
    updates.drain(into: &news)
    return all.withLock {
      $0 += news
      return $0
    }
  }

  /// Waits for an update from `first` on that meets the condition.
  @discardableResult
  func wait(
    from first: Int = 0, _ deadline: Deadline = Deadline(),
    for condition: (DirectoryUpdate) -> Bool
  ) throws -> DirectoryUpdate {
    while true {
      if let update = seen.dropFirst(first).first(where: condition) { return update }
      guard !deadline.hasPassed else {
        let last = seen.last.map {
          "\($0.people.people.count) people, \(String(describing: $0.problem))"
        }
        throw Unexpected("published only \(seen.count), last \(last ?? "nothing"); told \(told)")
      }
      _ = updates.wait(timeoutMilliseconds: deadline.milliseconds)
    }
  }

  /// Waits for a list that was read after `time`, without a problem.
  @discardableResult
  func waitForPeople(after time: Int64 = 0, from first: Int = 0) throws -> PeopleList {
    try wait(from: first) { $0.people.asOf > time && $0.problem == nil }.people
  }

  @discardableResult
  func waitForProblem(from first: Int = 0) throws -> DirectoryUpdate {
    try wait(from: first) { $0.problem != nil }
  }
}
