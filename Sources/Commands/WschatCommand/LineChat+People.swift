import Client
import EventLoop
import Messenger
import Wire

/// `--to`: the other user, who may be named by a display name, or be unknown to the relay.
extension LineChat {
  /// Opens the room of the options, or first looks up whose room it is.
  func open(_ place: Place, as user: String) {
    switch place {
    case .named(let room): join(room)
    case .direct(let peer):
      guard peer != user else {
        complain("--to must name another user; you are \(peer)")
        return finish(Self.usage)
      }
      join(RoomName.direct(user, peer))
    case .person(let name): search(for: name)
    }
  }

  func search(for name: String) {
    var search = PeopleSearch(for: name, by: ownName)
    client.request(search.start())
    self.search = search
  }

  /// Looks for the other user of a direct room, unless the marks prove that there is such a user.
  func searchPeer(in joined: ServerMessage.Joined) {
    guard case .direct(let peer) = options.room else { return }
    let isKnown = joined.members?.contains { $0.user == peer && max($0.received, $0.read) > 0 }
    if isKnown != true { search(for: peer) }
  }

  func continueSearch(with page: ServerMessage.PeoplePage) {
    guard var search, !search.awaitsList else { return }
    recordProgress()
    switch search.advance(with: page) {
    case .ask(let request):
      client.request(request)
      self.search = search
    case .wait:
      self.search = search
      searchRetry.set(afterMilliseconds: PeopleSearch.retryMilliseconds)
    case .end(let outcome): end(search, outcome)
    }
  }

  func searchAgain() {
    guard var search, search.awaitsList, exitCode == nil else { return }
    if client.request(search.start()) { self.search = search }
  }

  private func end(_ search: PeopleSearch, _ outcome: PeopleSearch.Outcome) {
    self.search = nil
    if case .person = options.room {
      guard case .found(let user) = outcome, let ownName else {
        complain(Self.unresolved(search.name, outcome))
        return finish(Self.usage)
      }
      return open(.direct(user), as: ownName)
    }
    if case .notFound(let others) = outcome,
      let warning = UnknownUser.warning(
        about: search.name, isListed: false, hasTraces: false,
        suggestion: others.first.map { ($0.user, $0.name) })
    {
      complain(warning)
    }
    finishIfDone()
  }

  /// Handles a refused request for people.
  func searchFailed(_ error: WireError) {
    // The last good list is searched in spite of the error that follows it.
    guard let search, !search.hasList else { return }
    self.search = nil
    if case .person = options.room {
      complain("\"\(search.name)\" cannot be looked up, use a user name: \(error.message)")
      return finish(Self.refused)
    }
    finishIfDone()
  }

  private static func unresolved(_ name: String, _ outcome: PeopleSearch.Outcome) -> String {
    if outcome == .unknown {
      return "\"\(name)\" cannot be looked up in the relay's list of people; use a user name"
    }
    if case .notFound(let others) = outcome, !others.isEmpty {
      let users = others.map { "\($0.user) (\($0.name))" }.joined(separator: ", ")
      return "\"\(name)\" may be \(users): use one of these user names"
    }
    return "no user called \"\(name)\" is known to the relay; use a user name (a-z 0-9 . _ -)"
  }
}
