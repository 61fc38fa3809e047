import Terminal
import Wire

/// Overlays (help, switcher, menus) and the search.
extension Chat {
  mutating func openSwitcher(forwarding key: Message.Key?) {
    var switcher = Switcher()
    switcher.forwarding = key
    switcher.matches = matches("")
    // The open conversation is not preselected.
    if key == nil, switcher.matches.first == timeline?.room, switcher.matches.count > 1 {
      switcher.selected = 1
    }
    overlay = .switcher(switcher)
  }

  mutating func insertInOverlay(_ text: String, _ effects: inout [Effect]) {
    switch overlay {
    case .switcher(var switcher):
      guard insert(text, into: &switcher.query) else { return }
      queryChanged(&switcher)
    case .help: closeHelp()
    case .signIn, .members: break
    case .find: insertInFind(text, &effects)
    case .date(var date):
      if insert(text, into: &date) { overlay = .date(date) }
    case .confirmDeletion, .confirmLeaving, .confirmQuitting, .confirmChange, .confirmSending,
      .confirmOpening:
      switch text {
      case "y", "Y": confirm(&effects)
      // Whatever else is typed was not meant as an answer; a "y" in it must not be one.
      default: performInOverlay(.cancel, &effects)
      }
    case .actions:
      guard let message = selectedMessage, let character = text.first,
        let command = settings.keymap.command(for: Key(.character(character)), in: .messages),
        actions(for: message).contains(command)
      else { return }
      act(command, on: message, &effects)
    case .reactions(_, let query): typeInReactions(text, query, &effects)
    case nil:
      if var query = search?.query {
        guard insert(text, into: &query) else { return }
        search?.query = query
        findMatches()
      } else if pane == .list, isFiltering {
        var filter = filter
        guard insert(text, into: &filter) else { return }
        self.filter = filter
        filterChanged()
      }
    }
  }

  private mutating func queryChanged(_ switcher: inout Switcher) {
    switcher.matches = matches(for: switcher)
    switcher.selected = 0
    overlay = .switcher(switcher)
    askForMatches()
  }

  /// Returns the matching conversations, a person who has none yet, and a new room only
  /// if "#room" asks for it.
  private func matches(for switcher: Switcher) -> [String] {
    let text = switcher.query.text
    guard switcher.forwarding == nil else { return matches(text) }
    var matches = matches(text, newPerson: true)
    if text.hasPrefix("#"), let room = Self.room(named: text, user: user), !matches.contains(room) {
      matches.append(room)
    }
    return matches
  }

  /// Updates the matches after the list of people has grown.
  mutating func updateSwitcher() {
    guard case .switcher(var switcher) = overlay else { return }
    let chosen =
      switcher.matches.indices.contains(switcher.selected)
      ? switcher.matches[switcher.selected] : nil
    switcher.matches = matches(for: switcher)
    switcher.selected = chosen.flatMap { switcher.matches.firstIndex(of: $0) } ?? 0
    overlay = .switcher(switcher)
  }

  mutating func performInOverlay(_ command: Command, _ effects: inout [Effect]) {
    if command == .cancel {
      if case .help = overlay { return closeHelp() }
      if find != nil { effects.append(.endFind) }
      let declined = overlay
      overlay = nil
      if case .confirmSending(_, let pasted) = declined { insert(pasted, &effects) }
      return
    }
    switch overlay {
    case .help(let line): scrollHelp(command, from: line)
    case .switcher(var switcher):
      if let selected = Self.move(command, switcher.selected, of: switcher.matches.count) {
        switcher.selected = selected
        overlay = .switcher(switcher)
      } else if command == .choose || command == .send {
        chooseInSwitcher(switcher, &effects)
      } else {
        let text = switcher.query.text
        guard switcher.query.perform(command) else { return }
        if switcher.query.text != text { return queryChanged(&switcher) }
        overlay = .switcher(switcher)
      }
    case .actions(let selected):
      guard let message = selectedMessage else {
        overlay = nil
        return
      }
      let actions = actions(for: message)
      if let moved = Self.move(command, selected, of: actions.count) {
        overlay = .actions(selected: moved)
      } else if command == .choose, actions.indices.contains(selected) {
        act(actions[selected], on: message, &effects)
      }
    case .reactions(let selected, let query):
      performInReactions(command, selected, query, &effects)
    case .find: performInFind(command, &effects)
    case .date(var date):
      if command == .choose || command == .send {
        _ = goToDate(date.text, &effects)
      } else if date.perform(command) {
        overlay = .date(date)
      }
    case .signIn:
      if command == .choose, case .ended = signIn { beginSignIn(&effects) }
    case .members(let selected): performInMembers(command, selected, &effects)
    case .confirmDeletion, .confirmLeaving, .confirmQuitting, .confirmChange, .confirmSending,
      .confirmOpening:
      if command == .choose { confirm(&effects) }
    case nil: break
    }
  }

  /// Does what the overlay asks about.
  private mutating func confirm(_ effects: inout [Effect]) {
    let question = overlay
    overlay = nil
    switch question {
    case .confirmDeletion(let key): delete(key, &effects)
    case .confirmLeaving(let room): leave(room, &effects)
    case .confirmQuitting: quit(&effects)
    case .confirmSending(let file, pasted: _): send([file], caption: nil, replyTo: nil, &effects)
    case .confirmOpening(let name, let path): effects.append(.openCopy(name: name, path: path))
    case .confirmChange(let change):
      ask(change, &effects)
      overlay = .members(selected: nil)
    default: break
    }
  }

  /// Shows the keys; what they cover comes back afterwards, except for a search, which goes on by
  /// answers.
  mutating func openHelp() {
    if case .help = overlay { return }
    covered = find == nil ? overlay : nil
    overlay = .help(line: 0)
  }

  mutating func closeHelp() {
    overlay = covered
    covered = nil
  }

  private mutating func scrollHelp(_ command: Command, from line: Int) {
    let last = helpLineCount
    let page = max(1, size.rows - 6)
    let moved: Int
    switch command {
    case .up, .lineUp: moved = line - 1
    case .down, .lineDown: moved = line + 1
    case .pageUp: moved = line - page
    case .pageDown: moved = line + page
    case .first, .lineStart: moved = 0
    case .last, .lineEnd, .newest: moved = last
    default: return
    }
    overlay = .help(line: max(0, min(moved, last - page)))
  }

  /// Returns the new selection after a move; `nil` if the command is not a move.
  static func move(_ command: Command, _ selected: Int, of count: Int) -> Int? {
    guard count > 0 else { return nil }
    switch command {
    case .up, .lineUp: return (selected + count - 1) % count
    case .down, .lineDown, .complete: return (selected + 1) % count
    case .pageUp: return max(0, selected - 10)
    case .pageDown: return min(count - 1, selected + 10)
    case .first: return 0
    case .last: return count - 1
    default: return nil
    }
  }

  private mutating func chooseInSwitcher(_ switcher: Switcher, _ effects: inout [Effect]) {
    // What the panel says then stays there.
    guard switcher.matches.indices.contains(switcher.selected) else { return }
    overlay = nil
    let room = switcher.matches[switcher.selected]
    if let key = switcher.forwarding {
      forward(key, to: room, &effects)
    } else {
      open(room, &effects)
    }
  }

  /// Returns the room that a text names: `#room`, `@user`, or either without the prefix.
  public static func room(named text: String, user: String?) -> String? {
    if text.hasPrefix("@") {
      let peer = String(text.dropFirst()).lowercased()
      guard let user, UserName.isValid(peer), peer != user else { return nil }
      return RoomName.direct(user, peer)
    }
    let name = (text.hasPrefix("#") ? String(text.dropFirst()) : text).lowercased()
    return RoomName.isValid(name) && !RoomName.isReserved(name) ? name : nil
  }

  // MARK: Searching

  mutating func performInSearch(_ command: Command, _ effects: inout [Effect]) {
    guard var search else { return }
    switch command {
    case .cancel:
      self.search = nil
      timeline?.found = []
      if settings.keymap.isModal { return enter(.messages) }
      timeline?.selected = nil
      pane = .composer
    case .up, .lineUp, .choose, .send:
      if search.selected + 1 < search.matches.count {
        search.selected += 1
        self.search = search
        showMatch()
      } else if !search.query.isEmpty {
        self.search?.pagesLeft = Self.searchedPages
        searchFurther(&effects)
      }
    case .down, .lineDown:
      search.selected = max(0, search.selected - 1)
      self.search = search
      showMatch()
    default:
      if search.query.perform(command) {
        self.search = search
        findMatches()
      }
    }
  }

  mutating func findMatches() {
    guard var search, let timeline else { return }
    search.matches =
      search.query.isEmpty ? [] : search.matches(in: timeline.messages[...])
    search.selected = 0
    self.search = search
    self.timeline?.found = Set(search.matches)
    showMatch()
  }

  /// The maximum number of older pages searched per key press, so that it is answered soon.
  private static let searchedPages = 20

  private mutating func searchFurther(_ effects: inout [Effect]) {
    guard let search, let pagesLeft = search.pagesLeft, let timeline, !timeline.isLoading else {
      return
    }
    if timeline.isComplete {
      self.search?.pagesLeft = nil
      complain("No older matches.", isError: false)
    } else if pagesLeft == 0 {
      self.search?.pagesLeft = nil
      let key = label(.choose, in: .overlay).map { " \($0) searches older ones." } ?? ""
      complain(
        timeline.messages.count == 1
          ? "The newest message does not match.\(key)"
          : "No matches in the newest \(timeline.messages.count) messages.\(key)", isError: false)
    } else {
      self.search?.pagesLeft = pagesLeft - 1
      loadOlder(&effects)
    }
  }

  /// Searches older messages that have arrived, and loads more until there is a match.
  mutating func searchOn(inFirst count: Int, _ effects: inout [Effect]) {
    guard let search, let timeline, !search.query.isEmpty else { return }
    let older = search.matches(in: timeline.messages.prefix(count))
    self.search?.matches += older
    self.timeline?.found.formUnion(older)
    if older.isEmpty { return searchFurther(&effects) }
    guard search.pagesLeft != nil else { return }
    self.search?.pagesLeft = nil
    notice = nil
    if !search.matches.isEmpty { self.search?.selected += 1 }
    showMatch()
  }

  private mutating func showMatch() {
    guard let search, search.matches.indices.contains(search.selected) else { return }
    select(search.matches[search.selected])
  }

  // MARK: The mouse

  mutating func handleMouse(_ mouse: Mouse, _ effects: inout [Effect]) {
    switch mouse.action {
    case .wheelUp, .wheelDown:
      let lines = mouse.action == .wheelUp ? -3 : 3
      if layout.list.contains(mouse.position) {
        listTop = max(0, min(listTop + lines, listed.count - 1))
        isListScrolled = true
      } else {
        scroll(by: lines, &effects)
      }
    case .press where mouse.button == .left: click(mouse.position, &effects)
    default: break
    }
  }

  private mutating func click(_ position: Position, _ effects: inout [Effect]) {
    let target = draw(.plain).target(at: position)
    if overlay != nil {
      // A click beside an overlay closes it first.
      guard case .choice = target else { return performInOverlay(.cancel, &effects) }
    }
    switch target {
    case .conversation(let room): open(room, &effects)
    case .message(let key):
      if timeline?.selected == key {
        enter(.messages)
        performOnMessages(.choose, &effects)
      } else {
        pane = .messages
        select(key)
      }
    case .composer: enter(.composer)
    case .newest: showNewest(&effects)
    case .choice(let number):
      switch overlay {
      case .switcher(var switcher):
        switcher.selected = number
        overlay = .switcher(switcher)
      case .actions: overlay = .actions(selected: number)
      case .reactions(_, let query): overlay = .reactions(selected: number, query: query)
      case .find: find?.selected = number
      case .members: return overlay = .members(selected: members[number].user)
      case nil where completion != nil:
        completion?.selected = number
        return acceptCompletion(&effects)
      default: return
      }
      performInOverlay(.choose, &effects)
    case nil: break
    }
  }
}

extension Chat.Search {
  /// Returns the messages that contain the query, newest first.
  fileprivate func matches(in messages: ArraySlice<Message>) -> [Message.Key] {
    let query = query.text.lowercased()
    return messages.reversed().filter { $0.text.lowercased().contains(query) }.map(\.key)
  }
}
