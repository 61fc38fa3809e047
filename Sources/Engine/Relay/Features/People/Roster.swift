import Folding

/// The users that `people` lists: those of the directory, then the configured bots.
struct Roster {
  var directory = DirectoryUpdate(people: PeopleList([], source: "", asOf: 0))
  let bots: PeopleList

  /// The number of names that one page looks at: a query with few matches has short pages.
  private static let scanLimit = 20_000

  init(bots: [(user: String, name: String)]) {
    self.bots = PeopleList(
      bots.map { Person(user: $0.user, name: $0.name) }, source: "", asOf: 0)
  }

  /// The number of users, with those bots counted twice that the directory has as well.
  private var count: Int { directory.people.people.count + bots.people.count }

  private func person(_ place: Int) -> (person: Person, isBot: Bool) {
    let people = directory.people.people
    return place < people.count
      ? (people[place], bots.index(of: people[place].user) != nil)
      : (bots.people[place - people.count], true)
  }

  func profile(of user: String) -> Person? {
    if let place = directory.people.index(of: user) { return directory.people.people[place] }
    return bots.index(of: user).map { bots.people[$0] }
  }

  /// Returns a page of the users who match a query.
  /// - Parameter cursor: the end of the page before; `nil` = the first page.
  func page(_ query: String, after cursor: PeopleCursor?, limit: Int) -> PeopleAnswer {
    var place = cursor.map(place(after:)) ?? 0
    let query = TextFolding.utf8(query)
    var answer = PeopleAnswer(source: directory.people.source, asOf: directory.people.asOf)
    let end = min(count, place + Self.scanLimit)
    while place < end, answer.people.count < limit {
      let matches = matches(place, query)
      let (person, isBot) = person(place)
      place += 1
      if matches { answer.people.append((person, isBot, place)) }
    }
    if place < count, place > 0 {
      answer.next = PeopleCursor(user: person(place - 1).person.user, place: place)
    }
    return answer
  }

  private func matches(_ place: Int, _ query: [UInt8]) -> Bool {
    let people = directory.people
    let bot = place - people.people.count
    if bot < 0 { return people.matches(place, query) }
    // A bot that the directory has as well is listed there.
    return bots.matches(bot, query) && people.index(of: bots.people[bot].user) == nil
  }

  /// The cursor names the last user of a page; if the list no longer has that user, the position
  /// counts.
  private func place(after cursor: PeopleCursor) -> Int {
    if let place = directory.people.index(of: cursor.user) { return place + 1 }
    if let place = bots.index(of: cursor.user) { return directory.people.people.count + place + 1 }
    return cursor.place
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
