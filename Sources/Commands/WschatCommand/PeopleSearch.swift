import Wire

/// Looks for one person in the relay's list of people, page by page.
struct PeopleSearch {
  /// Further pages are not read: a relay searches thousands of people for each.
  static let pageLimit = 100
  /// The number of people of that name that are kept.
  static let matchLimit = 5

  /// A relay that has just started reads its list of people; it is asked again for a while.
  static let retryMilliseconds = 200
  static let retryLimit = 10

  /// How a search ended.
  enum Outcome: Equatable {
    /// The person's user name.
    case found(String)
    /// There is no such person, or several have the name: those that may be meant.
    case notFound([ServerMessage.PersonRow])
    /// The list is not known to the relay yet, or too long to be searched.
    case unknown
  }

  /// What to do next.
  enum Step: Equatable {
    case ask(ClientMessage)
    /// Call `start` after `retryMilliseconds`.
    case wait
    case end(Outcome)
  }

  /// A user name or a display name.
  let name: String
  /// Whether `name` is a user name; then a display name is no match, only a suggestion.
  private let isUserName: Bool
  private let folded: String
  private let user: String?
  private var matches: [ServerMessage.PersonRow] = []
  private var pages = 0
  private var retries = 0
  /// Whether the last answer was the empty list of a relay that has just started.
  private(set) var awaitsList = false
  /// Whether a part of the list has been received.
  var hasList: Bool { pages > 0 && !awaitsList }

  /// - Parameter user: the user who searches, and is no match: the relay may list them as well.
  init(for name: String, by user: String?) {
    self.name = name
    self.user = user
    isUserName = UserName.isValid(name)
    folded = name.lowercased()
  }

  /// The request of the first page; the search begins anew.
  mutating func start() -> ClientMessage {
    matches = []
    pages = 0
    awaitsList = false
    return ask(after: nil)
  }

  private func ask(after cursor: String?) -> ClientMessage {
    .people(
      .init(query: name, cursor: cursor, limit: ClientMessage.PeopleRequest.limits.upperBound))
  }

  /// Handles a page of the answer.
  mutating func advance(with page: ServerMessage.PeoplePage) -> Step {
    pages += 1
    for person in page.people
    where person.user != user && (person.user == folded || person.name.lowercased() == folded) {
      if isUserName, person.user == name { return .end(.found(person.user)) }
      if matches.count < Self.matchLimit { matches.append(person) }
    }
    if let next = page.next {
      return pages < Self.pageLimit ? .ask(ask(after: next)) : .end(.unknown)
    }
    if !isUserName, matches.count == 1 { return .end(.found(matches[0].user)) }
    if page.asOf > 0 { return .end(.notFound(matches)) }
    // The list of a relay that has just started has no date.
    guard retries < Self.retryLimit else { return .end(.unknown) }
    retries += 1
    awaitsList = true
    return .wait
  }
}
