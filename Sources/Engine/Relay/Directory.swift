/// A source of people: a file, the members of an organization, or the followers of an account.
///
/// The contract, which one test suite checks for every conformer:
/// - **Complete or not at all.** A list is published when all of its pages are there, in the
///   directory's order. If a page fails, the last good list stays in place, and the problem is
///   published.
/// - **Kept.** The last good list survives a restart: it is published at the start, with its time,
///   before any request is made.
/// - **Within the limits.** No request is made while the rate limit of the directory is reached.
///
/// All methods may be called from any thread; none blocks.
public protocol Directory: AnyObject, Sendable {
  /// Starts to fetch people, and continues until `stop`.
  /// - Parameter publish: called on a thread of the directory, once at the start and then whenever
  ///   the list or the problem changes; must not block.
  func start(publish: @escaping @Sendable (DirectoryUpdate) -> Void)

  /// Stops; returns when `publish` will not be called again.
  func stop()
}

/// A publication of a directory: the last good list, and the problem that prevents a newer one.
public struct DirectoryUpdate: Sendable {
  public var people: PeopleList
  /// `nil` if there is none.
  public var problem: DirectoryProblem?

  public init(people: PeopleList, problem: DirectoryProblem? = nil) {
    self.people = people
    self.problem = problem
  }
}

/// The reason for which the list is not newer.
public enum DirectoryProblem: Error, Equatable, Sendable {
  /// The rate limit is reached; `until` is when it ends, in milliseconds since 1970, if known.
  case limited(until: Int64?)
  /// A short text for a person, and an id to quote in a request for support.
  case failed(String, support: String?)
}
