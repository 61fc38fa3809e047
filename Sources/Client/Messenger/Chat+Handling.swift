import Terminal
import Wire

extension Chat {
  /// Handles an event; appends to `effects`, in order, what the driver must do.
  /// - Parameter now: Milliseconds since 1970.
  public mutating func handle(_ event: Event, at now: Int64, _ effects: inout [Effect]) {
    if now < self.now { setBack(by: self.now - now) }
    recordPause(until: now)
    self.now = now
    switch event {
    case .input(let input): handleInput(input, &effects)
    case .resized(let size): resize(to: size)
    case .tick: break
    case .client(let event): handleClient(event, &effects)
    case .restored(let kept): restore(kept, &effects)
    case .page(let room, let before, let entries, let isComplete):
      showPage(entries, of: room, before: before, isComplete: isComplete, &effects)
    case .noPage(let room): takeNoPage(of: room)
    case .newer(let room, let after, let entries, let isNewest):
      showNewer(entries, of: room, after: after, isNewest: isNewest, &effects)
    case .found(let found): showFound(found, &effects)
    case .sought(let room, let place, let sought): showSought(sought, place, in: room, &effects)
    case .noOlder: takeNoOlder(&effects)
    case .counted(let room, let unread): conversations[room]?.unread = unread
    case .quoted(let room, let entry): takeQuoted(entry, in: room)
    case .drafts(let drafts): adoptDrafts(drafts)
    case .draftKept(let room, let base, let version):
      draftKept(in: room, inPlaceOf: base, as: version)
    case .shared(let states): adoptShared(states, &effects)
    case .takenOver(let lines, let originals): takeOver(lines, originals: originals, &effects)
    case .takenBack(let room, let id, let edits): takenBack(id, in: room, edits: edits)
    case .edited(let text): takeEdited(text, &effects)
    case .notEdited(let reason): takeNotEdited(reason, &effects)
    case .filesFound(let choice, let files, let problem):
      take(files, for: choice, problem: problem, &effects)
    case .pathsFound(let start, let paths): offer(paths, for: start, &effects)
    case .upload(let id, let news): take(news, ofUpload: id, &effects)
    case .programFound(let name, let path): overlay = .confirmOpening(name: name, path: path)
    case .signIn(let state): followSignIn(state)
    case .signedIn(let user): signedIn(as: user)
    case .failed(let text): complain(text)
    case .condition(let condition, let text): set(condition, text)
    case .kept(let id, let isKept):
      if let place = outgoing.firstIndex(where: { $0.send.id == id }) {
        outgoing[place].isKept = isKept
      }
    case .done(let text): complain(text, isError: false)
    }
    endClosedSignIn(&effects)
    tick(&effects)
  }

  /// Does the work that was deferred until drawing; call it before `draw`.
  public mutating func prepareToDraw() {
    if isListStale { orderList() }
    // Until the user selects a row, the first one is selected, even while the list is still
    // loading.
    if pane == .list, !isListSelectionChosen { listSelection = listed.first }
    keepListSelectionVisible()
  }

  /// When `tick` is due, in milliseconds since 1970; `nil` for never. Always after the last event:
  /// work that cannot be done yet does not cause a wake-up.
  public var deadline: Int64? {
    var next = min(times.nextPing, times.nextPeople, times.nextQuery, times.nextTypingEnd)
    if let notice { next = min(next, notice.until) }
    if let pendingKeys { next = min(next, pendingKeys.until) }
    next = min(next, healthDeadline, findDeadline)
    switch connection {
    case .waiting: next = min(next, now + 1000)
    case .connecting, .live, .ended: break
    }
    if case .limited = directory { next = min(next, now + 1000) }
    if draftIsUnsaved { next = min(next, times.draftSaved + Self.draftMilliseconds) }
    if let awayAt { next = min(next, awayAt) }
    // "Today" becomes "Yesterday".
    return min(next, now + 60_000 - now % 60_000)
  }

  /// When the user's presence becomes away without another key; `nil` if it does not.
  private var awayAt: Int64? {
    !times.isAway && hasFocus != true && isLive ? times.lastInput + Self.awayMilliseconds : nil
  }

  static let pingMilliseconds: Int64 = 10_000
  static let awayMilliseconds: Int64 = 300_000
  static let draftMilliseconds: Int64 = 1000
  static let noticeMilliseconds: Int64 = 8_000
  static let noticeLeastMilliseconds: Int64 = 3_000

  private mutating func tick(_ effects: inout [Effect]) {
    if let notice, notice.until <= now { self.notice = nil }
    if let pendingKeys, pendingKeys.until <= now { self.pendingKeys = nil }
    if now >= times.nextPing, isLive {
      times.pings.append(now)
      times.nextPing = now + Self.pingMilliseconds
      effects.append(.request(.ping(t: nil)))
    }
    if now >= times.nextPeople, isLive {
      times.nextPeople = .max
      askForPeople(&effects)
    }
    if now >= times.nextQuery {
      times.nextQuery = .max
      if isLive, let query = peopleQuery {
        peopleAsked.append(.query)
        recordAsked(.people)
        effects.append(.request(.people(.init(query: query))))
      }
    }
    if case .limited(let until) = directory, until <= now {
      directory = .loading
      askForPeople(&effects)
    }
    if now >= times.nextTypingEnd { endTyping() }
    tickFind(&effects)
    if draftIsUnsaved, now >= times.draftSaved + Self.draftMilliseconds { saveDraft(&effects) }
    if let awayAt, now >= awayAt {
      times.isAway = true
      effects.append(.request(.presence(isAway: true)))
    }
  }

  /// Ends the typing notices that the relay has not ended.
  private mutating func endTyping() {
    times.nextTypingEnd = .max
    for (room, conversation) in conversations where !conversation.typing.isEmpty {
      let typing = conversation.typing.filter { $0.until > now }
      conversations[room]?.typing = typing
      for typing in typing { times.nextTypingEnd = min(times.nextTypingEnd, typing.until) }
    }
  }

  /// Records that the relay was asked for older entries.
  public mutating func historyIsAsked(for room: String) {
    historyAsked = room
    if timeline?.room == room { timeline?.isLoading = true }
  }

  /// Shifts all deadlines after the clock was set back, so that what was due in a minute is still
  /// due in a minute, not when the old time is reached again.
  private mutating func setBack(by milliseconds: Int64) {
    times.shift(by: -milliseconds)
    notice?.until -= milliseconds
    pendingKeys?.until -= milliseconds
    if case .waiting(let until, let reason) = connection {
      connection = .waiting(until: until - milliseconds, reason: reason)
    }
    for room in conversations.keys {
      conversations[room]?.notifiedAt -= milliseconds
      guard let typing = conversations[room]?.typing, !typing.isEmpty else { continue }
      conversations[room]?.typing = typing.map {
        .init(user: $0.user, until: $0.until - milliseconds)
      }
    }
  }

  var isLive: Bool { if case .live = connection { true } else { false } }

  /// Whether the user looks at the screen, as far as that is known. A terminal that does not report
  /// its focus, such as tmux by default, is watched while keys are pressed.
  var isWatched: Bool {
    if editorRoom != nil { return false }
    return hasFocus
      ?? (settings.awayAfterSeconds == 0 || now - times.lastInput < awayAfterMilliseconds)
  }

  private var awayAfterMilliseconds: Int64 { Int64(settings.awayAfterSeconds) * 1000 }

  mutating func complain(_ text: String, isError: Bool = true) {
    notice = Notice(text: text, isError: isError, until: now + Self.noticeMilliseconds)
  }

  private mutating func resize(to size: Size) {
    self.size = size
    isListScrolled = false
    if let key = timeline?.selected { reveal(key) }
  }

  private mutating func restore(_ kept: Event.Restored, _ effects: inout [Effect]) {
    names = kept.names
    for conversation in kept.conversations {
      var conversation = conversation
      conversation.countedTo = conversation.head
      conversation.knownTo = conversation.head
      conversations[conversation.room] = conversation
      if let last = conversation.last, last.from == user {
        let state = state(ofSeq: last.seq, in: conversation.room)
        conversations[conversation.room]?.last?.state = state
      }
    }
    outgoing = kept.outgoing
    keep(kept.originals)
    for line in outgoing where line.send.kind.isContent { showLast(line) }
    resumeUploads(&effects)
    isListStale = true
  }
}
