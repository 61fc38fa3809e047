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
