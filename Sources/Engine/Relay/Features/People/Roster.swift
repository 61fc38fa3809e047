import Folding

/// The users that `people` lists: those of the directory, then those who have connected or have an
/// account, then the configured bots.
struct Roster {
  var directory = DirectoryUpdate(people: PeopleList([], source: "", asOf: 0))
  let bots: PeopleList
  /// `nil` if only the directory and the bots are listed.
  let seen: SeenPeople?

  /// The number of names that one page looks at: a query with few matches has short pages.
  private static let scanLimit = 20_000

  init(bots: [(user: String, name: String)], seen: SeenPeople? = nil) {
    self.bots = PeopleList(
      bots.map { Person(user: $0.user, name: $0.name) }, source: "", asOf: 0)
    self.seen = seen
  }

  func isBot(_ user: String) -> Bool { bots.index(of: user) != nil }

  func profile(of user: String) -> Person? {
    if let place = directory.people.index(of: user) { return directory.people.people[place] }
    if let place = bots.index(of: user) { return bots.people[place] }
    return seen?.person(user)
  }

  /// Returns a page of the users who match a query.
  /// - Parameter cursor: the end of the page before; `nil` = the first page.
  func page(_ query: String, after cursor: PeopleCursor?, limit: Int) -> PeopleAnswer {
    let people = directory.people
    let place = cursor.map(place(after:)) ?? 0
    let query = TextFolding.utf8(query)
    var answer = PeopleAnswer(source: people.source, asOf: people.asOf)
    var (last, scanned) = (cursor, 0)
    /// Returns whether the page may look at one more user; else it ends after the last one.
    func looks(at user: String, _ place: Int) -> Bool {
      guard answer.people.count < limit, scanned < Self.scanLimit else {
        answer.next = last
        return false
      }
      scanned += 1
      last = PeopleCursor(user: user, place: place)
      return true
    }

    for index in min(place, people.people.count)..<people.people.count {
      let person = people.people[index]
      guard looks(at: person.user, index + 1) else { return answer }
      if people.matches(index, query) {
        answer.people.append((person, isBot(person.user), index + 1))
      }
    }
    if let seen, place <= PeopleCursor.seenPlace {
      var user = place == PeopleCursor.seenPlace ? cursor?.user ?? "" : ""
      while case let run = seen.run(after: user), let end = run.last {
        for person in run {
          guard looks(at: person.user, PeopleCursor.seenPlace) else { return answer }
          if person.matches(query), people.index(of: person.user) == nil, !isBot(person.user) {
            let name = person.name ?? person.user
            let listed = Person(
              user: person.user, name: name, avatar: seen.avatar(of: person.user))
            answer.people.append((listed, false, PeopleCursor.seenPlace))
          }
        }
        user = end.user
      }
    }
    let first = max(0, place - PeopleCursor.seenPlace)
    for index in min(first, bots.people.count)..<bots.people.count {
      let (person, place) = (bots.people[index], PeopleCursor.seenPlace + index + 1)
      guard looks(at: person.user, place) else { return answer }
      // A bot that the directory has as well is listed there.
      if bots.matches(index, query), people.index(of: person.user) == nil {
        answer.people.append((person, true, place))
      }
    }
    return answer
  }

  /// The cursor names the last user of a page; if the list no longer has that user, the position
  /// counts.
  private func place(after cursor: PeopleCursor) -> Int {
    if cursor.place < PeopleCursor.seenPlace {
      return directory.people.index(of: cursor.user).map { $0 + 1 } ?? cursor.place
    }
    if cursor.place == PeopleCursor.seenPlace { return cursor.place }
    return bots.index(of: cursor.user).map { PeopleCursor.seenPlace + $0 + 1 } ?? cursor.place
  }
}

/// A page of people that is being made.
struct PeopleAnswer {
  /// Each with the position after it. Nothing is looked up by position later, because the list may
  /// be replaced before the page is sent.
  var people: [(person: Person, isBot: Bool, place: Int)] = []
  /// The end of the page; `nil` if there are no more people.
  var next: PeopleCursor?
  /// The list that the page is made from, as in `PeopleList`.
  var source: String
  var asOf: Int64
}
