import Archive
import Wire

/// Drafts, and what else another instance of wschat may change.
extension Chat {
  /// Whether there is text in the composer that is not stored.
  var draftIsUnsaved: Bool {
    if case .edit = composition { return false }
    return open.map { $0.draft != draftText } ?? false
  }

  /// Saves the unsent text; call it before the program ends for any reason.
  public mutating func putAway(_ effects: inout [Effect]) { saveDraft(&effects) }

  mutating func saveDraft(_ effects: inout [Effect]) {
    guard draftIsUnsaved, let room = timeline?.room else { return }
    times.draftSaved = now
    let text = draftText
    conversations[room]?.draft = text
    effects.append(.save(room))
    effects.append(.saveDraft(room: room, text, inPlaceOf: conversations[room]?.draftVersion))
  }

  /// Forgets the draft of a conversation; a message that it has become is sent with the next effect.
  mutating func endDraft(of room: String, isSent: Bool, _ effects: inout [Effect]) {
    guard let conversation = conversations[room] else { return }
    conversations[room]?.draft = ""
    conversations[room]?.draftVersion = nil
    guard let version = conversation.draftVersion else { return }
    effects.append(
      isSent
        ? .endDraft(room: room, version) : .saveDraft(room: room, "", inPlaceOf: version))
  }

  mutating func draftKept(
    in room: String, inPlaceOf base: Archive.Draft.Version?, as version: Archive.Draft.Version?
  ) {
    // Otherwise another draft was chosen meanwhile.
    guard let conversation = conversations[room], conversation.draftVersion == base else { return }
    conversations[room]?.draftVersion = version
    if let version {
      if drafts[room] == nil { drafts[room] = [] }
      conversations[room]?.draftSeen = max(conversation.draftSeen, version.number)
    }
  }

  // MARK: Drafts of other instances

  /// Takes the stored drafts of all conversations, each list with the newest first.
  mutating func adoptDrafts(_ drafts: [String: [Archive.Draft]]) {
    // There may be thousands of conversations, few of which have a draft.
    let rooms = Set(drafts.keys).union(self.drafts.keys)
    self.drafts = drafts
    for room in rooms { merge(drafts[room] ?? [], into: room) }
  }

  mutating func merge(_ list: [Archive.Draft], into room: String) {
    guard var conversation = conversations[room] else { return }
    let isOpen = timeline?.room == room
    let isTyped = isOpen && draftIsUnsaved
    let hadOthers = !conversation.otherDrafts.isEmpty
    if !isTyped {
      let newest = list.first { $0.version.number > conversation.draftSeen }
      let own = list.first { $0.version.branch == conversation.draftVersion?.branch }
      let draft = own ?? newest
      if conversation.draftVersion != draft?.version {
        conversation.draft = draft?.text ?? ""
        conversation.draftVersion = draft?.version
        isListStale = true
        var isEditing = false
        if case .edit = composition { isEditing = true }
        if isOpen, !isEditing {
          endRecall()
          composer = TextEditor(conversation.draft)
          completion = nil
        }
      }
    }
    conversation.otherDrafts = list.filter { $0.version != conversation.draftVersion }
    conversation.draftSeen = max(conversation.draftSeen, list.first?.version.number ?? 0)
    let isNews = isOpen && !hadOthers && !conversation.otherDrafts.isEmpty
    conversations[room] = conversation
    if isNews, let key = label(.otherDraft, in: .composer) {
      complain(
        "Another wschat of yours has a draft here, too. Both are kept: \(key) shows the other.",
        isError: false)
    }
  }

  /// Puts the next of several drafts into the composer.
  mutating func showOtherDraft(_ effects: inout [Effect]) {
    guard let room = timeline?.room, let conversation = conversations[room] else { return }
    if case .edit = composition {
      return complain("Finish the edit first.", isError: false)
    }
    let others = conversation.otherDrafts.sorted { $0.version.branch < $1.version.branch }
    let here = conversation.draftVersion?.branch ?? 0
    guard let next = others.first(where: { $0.version.branch > here }) ?? others.first else {
      return complain("There is no other draft here.", isError: false)
    }
    saveDraft(&effects)
    var rest = others.filter { $0.version.branch != next.version.branch }
    // Its text is stored with the effect above, and read with its version after that.
    let text = draftText
    if let version = conversation.draftVersion, !text.isEmpty {
      rest.append(Archive.Draft(version: version, text: text))
    }
    endRecall()
    conversations[room]?.draft = next.text
    conversations[room]?.draftVersion = next.version
    conversations[room]?.otherDrafts = rest
    composer = TextEditor(next.text)
    completion = nil
    pane = .composer
    stopTyping(&effects)
  }

  // MARK: The rest

  /// Takes what another instance has changed.
  mutating func adoptShared(_ states: [Archive.SharedState], _ effects: inout [Effect]) {
    for state in states {
      guard let conversation = conversations[state.room] else { continue }
      conversations[state.room]?.notifications =
        Conversation.Notifications(rawValue: state.notifications) ?? .all
      conversations[state.room]?.isPinned = state.isPinned
      conversations[state.room]?.isMarkedUnread = state.isMarkedUnread
      if state.read > conversation.read {
        conversations[state.room]?.read = state.read
        recount(state.room, &effects)
      }
      isListStale = true
    }
  }

  /// Takes over the messages of an instance that has ended without sending them.
  mutating func takeOver(
    _ lines: [Outgoing], originals: [String: Entry], _ effects: inout [Effect]
  ) {
    keep(originals)
    for line in lines where !outgoing.contains(where: { $0.send.id == line.send.id }) {
      outgoing.append(line)
      show(line, &effects)
      // It may have arrived from the relay, and more after it.
      let last = conversations[line.send.room]?.last?.at ?? .min
      if line.send.kind.isContent, last < line.at { showLast(line) }
    }
  }

  /// Keeps the originals of forwarded messages, by the id of the outgoing message.
  mutating func keep(_ originals: [String: Entry]) {
    for (id, entry) in originals {
      var original = Message(
        key: .init(from: entry.from, id: entry.id), seq: entry.seq, at: entry.at,
        text: entry.text ?? "", isOwn: entry.from == user)
      original.forwardedFrom = entry.forward?.from
      forwarded[id] = original
    }
  }
}
