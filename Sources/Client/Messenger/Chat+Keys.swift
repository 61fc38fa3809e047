import Terminal
import Wire

/// The user's input.
extension Chat {
  mutating func handleInput(_ input: InputEvent, _ effects: inout [Effect]) {
    switch input {
    case .key(let key):
      recordInput(&effects)
      handleKey(key, &effects)
    case .paste(let text):
      recordInput(&effects)
      pendingKeys = nil
      paste(text, &effects)
    case .mouse(let mouse):
      recordInput(&effects)
      pendingKeys = nil
      handleMouse(mouse, &effects)
    case .focus(let has):
      hasFocus = has
      times.lastInput = now
      if has {
        recordInput(&effects)
        markRead(&effects)
      }
    case .reply: break
    }
  }

  mutating func recordInput(_ effects: inout [Effect]) {
    let wasWatched = isWatched
    times.lastInput = now
    if !wasWatched, isWatched {
      markRead(&effects)
      if let focusHint { complain(focusHint, isError: false) }
      focusHint = nil
    }
    guard times.isAway else { return }
    times.isAway = false
    if isLive { effects.append(.request(.presence(isAway: false))) }
  }

  /// The context to which keys apply.
  var context: Keymap.Context {
    if case .members = overlay { return .members }
    if overlay != nil || search != nil || (pane == .list && isFiltering) { return .overlay }
    switch pane {
    case .list: return .list
    case .messages: return .messages
    case .composer: return .composer
    }
  }

  private mutating func handleKey(_ key: Key, _ effects: inout [Effect]) {
    isListScrolled = false
    entersMessages = false
    // Without a selected message its keys are text.
    if pane == .messages, selectedMessage == nil {
      pane = .composer
      if settings.keymap.isModal { enter(.messages) }
    }
    // A notice stays long enough to be read, even if the user is typing.
    if let notice, notice.until - now <= Self.noticeMilliseconds - Self.noticeLeastMilliseconds {
      self.notice = nil
    }
    let command: Command
    switch press(key) {
    case .command(.nthConversation, let keys):
      let place = settings.keymap.place(of: keys, of: .nthConversation)
      return openListed(at: place ?? 0, &effects)
    case .command(let pressed, _): command = pressed
    case .unbound:
      if case .character(let character) = key.code, key.modifiers.isEmpty {
        type(character, &effects)
      }
      return
    case .taken: return
    }
    if perform(command, &effects) { return }
    if overlay != nil { return performInOverlay(command, &effects) }
    if search != nil { return performInSearch(command, &effects) }
    switch pane {
    case .list: performInList(command, &effects)
    case .messages: performOnMessages(command, &effects)
    case .composer: performInComposer(command, &effects)
    }
  }

  private mutating func type(_ character: Character, _ effects: inout [Effect]) {
    switch context {
    case .overlay: insertInOverlay(String(character), &effects)
    case .members: break
    case .composer, .anywhere: insert(String(character), &effects)
    case .list:
      isFiltering = true
      insertInOverlay(String(character), &effects)
    // Some letters are commands on a message, so none of them is text: a word would lose these.
    case .messages:
      let key = label(.cancel, in: .messages).map { "\($0) goes" } ?? "Go"
      complain("Keys are for the selected message. \(key) back to the composer.", isError: false)
    }
  }

  private mutating func paste(_ text: String, _ effects: inout [Effect]) {
    if let path = droppedPath(in: text), overlay == nil, context != .overlay, timeline != nil {
      pane = .composer
      effects.append(.findFiles(.init(purpose: .paste(text), paths: [path])))
    } else if overlay != nil || context == .overlay {
      // A paste chooses nothing: a "y" in it confirms no deletion.
      switch overlay {
      case nil, .switcher, .find, .date: insertInOverlay(text, &effects)
      case .reactions(_, let query): insertInReactions(text, query)
      case .help, .actions, .confirmDeletion, .confirmLeaving, .confirmQuitting, .confirmChange,
        .members, .signIn, .confirmSending, .confirmOpening:
        break
      }
    } else if timeline != nil {
      pane = .composer
      insert(text, &effects)
    }
  }

  mutating func insert(_ text: String, _ effects: inout [Effect]) {
    guard timeline != nil else { return complain("Choose a conversation first.") }
    do {
      try composer.insert(text)
      composed(&effects)
    } catch {
      complain(Self.describe(error))
    }
  }

  static func describe(_ error: TextEditor.Full) -> String {
    "This would make \(error.bytes) bytes of text; at most \(error.capacityBytes) fit, and nothing was"
      + " inserted. Write it in parts."
  }

  /// Inserts a text into a line; says why, if it does not fit.
  mutating func insert(_ text: String, into line: inout LineEditor) -> Bool {
    do {
      try line.insert(text)
      return true
    } catch {
      complain(Self.describe(error))
      return false
    }
  }

  /// Handles a change of the composer's text.
  mutating func composed(_ effects: inout [Effect]) {
    completion = nil
    recordTyping(&effects)
  }

  // MARK: Global commands

  /// - Returns: Whether the command was handled here.
  mutating func perform(_ command: Command, _ effects: inout [Effect]) -> Bool {
    switch command {
    case .quit: askToQuit(&effects)
    case .suspend: effects.append(.suspend)
    case .redraw: effects.append(.redraw)
    case .help: openHelp()
    case .switcher: openSwitcher(forwarding: nil)
    case .nextConversation: step(1, unreadOnly: false, &effects)
    case .previousConversation: step(-1, unreadOnly: false, &effects)
    case .nextUnread: step(1, unreadOnly: true, &effects)
    case .previousUnread: step(-1, unreadOnly: true, &effects)
    case .pageUp where overlay == nil: scroll(by: -max(1, layout.messages.rows - 2), &effects)
    case .pageDown where overlay == nil: scroll(by: max(1, layout.messages.rows - 2), &effects)
    case .newest where overlay == nil:
      timeline?.selected = nil
      showNewest(&effects)
      if pane == .messages { enter(.messages) }
    case .selectMessage: if timeline != nil { enter(.messages) }
    case .search:
      guard timeline != nil else { return true }
      overlay = nil
      if search == nil { search = Search() }
    case .find:
      if find == nil { openFind("", &effects) } else { performInFind(.down, &effects) }
    case .goToDate: if timeline != nil { overlay = .date(LineEditor()) }
    case .firstUnread: goToFirstUnread(&effects)
    case .previousMention: goToMention(isOlder: true, &effects)
    case .nextMention: goToMention(isOlder: false, &effects)
    case .mute: toggleMute(&effects)
    case .reconnect: reconnect(&effects)
    case .signIn: openSignIn(&effects)
    case .write: goToComposer(&effects)
    case .pin: togglePin(&effects)
    case .members: openMembers()
    case .markUnread: markUnread(&effects)
    case .leave: askToLeave()
    case .compactList: toggleCompactList()
    case .sidebar: toggleSidebar()
    case .nextPane: changePane(1)
    case .previousPane: changePane(-1)
    default: return false
    }
    return true
  }

  private mutating func changePane(_ offset: Int) {
    overlay = nil
    var panes: [Pane] = [.list]
    if timeline != nil { panes = [.list, .messages, .composer] }
    let here = panes.firstIndex(of: pane) ?? 0
    enter(panes[(here + offset + panes.count) % panes.count])
  }

  mutating func enter(_ pane: Pane) {
    self.pane = pane
    if pane != .messages { timeline?.selected = nil }
    switch pane {
    case .list: listSelection = timeline?.room ?? listSelection ?? listed.first
    case .messages:
      if timeline?.selected == nil, let last = timeline?.messages.last { select(last.key) }
      if timeline?.messages.isEmpty == true { self.pane = .composer }
    case .composer: break
    }
  }

  mutating func scroll(by lines: Int, _ effects: inout [Effect]) {
    guard timeline != nil else { return }
    if scroll(byLines: lines) { loadOlder(&effects) }
    if timeline?.scroll == .newest, timeline?.isDetached == true { loadNewer(&effects) }
    markRead(&effects)
  }

  // MARK: The list

  private mutating func performInList(_ command: Command, _ effects: inout [Effect]) {
    if isListStale { orderList() }
    switch command {
    case .up: moveListSelection(-1)
    case .down: moveListSelection(1)
    case .halfPageUp, .halfPageDown:
      let rows = max(1, layout.listRows.rows / layout.rowHeight / 2)
      moveListSelection(command == .halfPageUp ? -rows : rows)
    case .first, .last:
      listSelection = command == .first ? listed.first : listed.last
      isListSelectionChosen = true
    case .filter: isFiltering = true
    case .choose, .send:
      guard let room = listSelection else { return }
      endFilter()
      openByCommand(room, &effects)
    case .cancel:
      if isFiltering { return endFilter() }
      if timeline != nil { pane = .composer }
    default:
      if isFiltering, filter.perform(command) { filterChanged() }
    }
  }

  private mutating func moveListSelection(_ offset: Int) {
    guard !listed.isEmpty else { return }
    let here = listSelection.flatMap { listed.firstIndex(of: $0) } ?? (offset > 0 ? -1 : 0)
    listSelection = listed[min(max(0, here + offset), listed.count - 1)]
    isListSelectionChosen = true
  }

  // MARK: The composer

  private mutating func performInComposer(_ command: Command, _ effects: inout [Effect]) {
    switch command {
    case .send:
      if completion != nil { return acceptCompletion(&effects) }
      sendWritten(&effects)
    case .editor: openEditor(&effects)
    case .clearDraft: clearDraft(&effects)
    case .olderSent: recallSent(1, &effects)
    case .newerSent: recallSent(-1, &effects)
    case .newLine: insert("\n", &effects)
    case .complete: complete(&effects)
    case .otherDraft: showOtherDraft(&effects)
    case .cancel:
      if completion != nil {
        completion = nil
      } else if settings.keymap.isModal {
        leaveComposer()
      } else if case .edit = composition {
        endEditing()
      } else if composition != .new {
        composition = .new
      } else if timeline?.scroll != .newest {
        showNewest(&effects)
      } else {
        leaveComposer()
      }
    case .lineUp where completion != nil: moveCompletion(-1)
    case .lineDown where completion != nil: moveCompletion(1)
    case .lineUp where composer.isEmpty && composition == .new: editLast(&effects)
    default:
      let before = composer.text
      composer.perform(command, wrappedAt: composerColumns)
      if composer.text != before { composed(&effects) }
    }
  }

  private mutating func complete(_ effects: inout [Effect]) {
    if completion != nil { return moveCompletion(1) }
    if composition == .new, let word = composer.pathWord {
      return effects.append(.findPaths(word.text))
    }
    completion = Completion(
      before: composer, users: mentionable,
      commands: composition == .new ? open.map(SlashCommand.offered(in:)) ?? [] : [])
    if completion?.candidates.count == 1 { acceptCompletion(&effects) }
  }

  /// Offers paths, unless another word is before the cursor by now.
  mutating func offer(_ paths: [String], for start: String, _ effects: inout [Effect]) {
    guard composition == .new, composer.pathWord?.text == start else { return }
    completion = Completion(paths: paths)
    if paths.count == 1 { acceptCompletion(&effects) }
  }

  private mutating func moveCompletion(_ offset: Int) {
    guard let (selected, count) = completion.map({ ($0.selected, $0.candidates.count) }), count > 0
    else { return }
    completion?.selected = (selected + offset + count) % count
  }

  mutating func acceptCompletion(_ effects: inout [Effect]) {
    guard let completion, completion.candidates.indices.contains(completion.selected) else {
      return
    }
    composer.replaceWord(with: completion.candidates[completion.selected].replacement)
    composed(&effects)
  }

  /// The users to complete after `@`: those of this conversation first.
  private var mentionable: [(user: String, name: String)] {
    guard let open else { return [] }
    var users: [String] = []
    var seen: Set<String> = []
    func add(_ user: String) {
      if user != self.user, seen.insert(user).inserted { users.append(user) }
    }
    timeline?.messages.reversed().prefix(200).forEach { add($0.from) }
    if let peer = open.peer { add(peer) }
    open.marks.keys.sorted().forEach(add)
    names.keys.sorted().forEach(add)
    return users.map { ($0, name(of: $0)) }
  }
}
