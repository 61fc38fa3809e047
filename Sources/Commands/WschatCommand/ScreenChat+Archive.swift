import Archive
import Client
import Messenger
import Wire

/// The archive: storing and loading.
extension ScreenChat {
  /// The number of entries that a conversation shows at first, and that are loaded at once when
  /// scrolling up.
  static let pageEntries = 100
  /// A conversation that lags by more entries is begun anew with the newest ones.
  static let catchUpEntries: Int64 = 500

  /// Opens the archive of a user and displays it. If that fails, the chat runs without an archive.
  func openArchive(of user: String) {
    flushArchive()
    stopSharing()
    let path = Archive.path(stateHome: options.stateFolder, relay: chat.relay, user: user)
    var problem: String?
    let limit = options.settings.historyEntries
    do {
      archive = try Archive(
        path: path, entriesLimit: limit > 0 ? Int64(limit) : Archive.entriesLimit)
    } catch {
      archive = nil
      problem = "Messages are not saved: \(error) Mend that, and start wschat again."
    }
    if archiveUser != nil {
      // The user is not the expected one: nothing of the other user's is displayed.
      let old = chat
      chat = Chat(
        settings: old.settings, size: old.size, now: old.now, relay: old.relay, user: user,
        idPrefix: Self.idPrefix(), localTime: old.localTime)
      chat.hasFocus = old.hasFocus
      joins = []
      reaches = []
      fetching = []
      archiveSearch = nil
      openFirst()
    }
    archiveUser = user
    chat.user = user
    keep { archive throws(ArchiveError) in
      let outgoing = try archive.outbox()
      restoredLines = Set(outgoing.map(\.send.id))
      let originals = try originals(of: outgoing, in: archive)
      take(
        .restored(
          .init(
            conversations: try archive.rooms().map { room throws(ArchiveError) in
              var conversation = Conversation(room)
              conversation.mentions = try mentions(in: room, of: archive)
              return conversation
            },
            names: try archive.names(),
            outgoing: outgoing.map { .init(send: $0.send, at: $0.at, refusal: $0.refusal) },
            originals: originals)))
    }
    startSharing()
    take(.condition(.notSaved, problem))
    if let damage = archive?.damage { take(.failed("\(damage)")) }
    if chat.conversations.isEmpty, Environment["TMUX"] != nil {
      chat.focusHint = "tmux: `set -g focus-events on` tells wschat when you look; see wschat(1)."
    }
  }

  /// Returns the messages that outgoing ones forward, by the id of the outgoing message.
  func originals(
    of outgoing: [Archive.Outgoing], in archive: Archive
  ) throws(ArchiveError) -> [String: Entry] {
    var originals: [String: Entry] = [:]
    for line in outgoing {
      guard case .forward(let forward) = line.send.reference else { continue }
      originals[line.send.id] = try archive.entry(forward.room, forward.seq)
    }
    return originals
  }

  /// Finds the mentions among the newest unread entries of a room.
  private func mentions(
    in room: Archive.Room, of archive: Archive
  ) throws(ArchiveError) -> [Int64] {
    guard room.peer == nil, room.unread > 0 else { return [] }
    let page = try archive.page(of: room.room, before: nil, limit: Self.pageEntries)
    return chat.mentions(in: page, after: room.read)
  }

  /// Passes the stored messages to the client, after the relay has confirmed the expected user:
  /// messages of one user must not be sent as another's.
  func sendOutbox() {
    isAuthenticated = true
    keep { archive throws(ArchiveError) in
      for line in try archive.outbox() where line.refusal == nil { client.send(line.send) }
    }
  }

  /// Uses the archive; if that fails, the chat continues without it.
  /// - Returns: Whether it succeeded.
  @discardableResult
  func keep(_ body: (Archive) throws(ArchiveError) -> Void) -> Bool {
    guard let archive else { return false }
    do throws(ArchiveError) {
      try body(archive)
      // Not after a read or the flush itself, so that an idle program does not wake up.
      if archive.hasChanges { scheduleFlush() }
      return true
    } catch {
      take(.condition(.notSaved, "Messages are not saved: \(error)"))
      return false
    }
  }

  func flushArchive() {
    let rooms = unsaved
    unsaved = []
    var isWritten = false
    let isKept = keep { archive throws(ArchiveError) in
      for room in rooms {
        guard let conversation = chat.conversations[room] else { continue }
        archive.save(Archive.Room(conversation))
      }
      isWritten = archive.hasChanges || !chat.unkept.isEmpty
      // Messages that could not be stored when they were sent.
      for line in chat.unkept { try archive.enqueue(line.send, at: line.at) }
      try archive.flush()
    }
    if isKept, isWritten, archive?.hasChanges == false {
      for line in chat.unkept { take(.kept(id: line.send.id, true)) }
      take(.condition(.notSaved, nil))
    } else if archive != nil, !isKept {
      scheduleFlush(afterMilliseconds: Self.flushRetryMilliseconds)
    }
    saveWaitingDrafts()
  }

  /// Loads a page from the archive; asks the relay if the archive has less than a page.
  func load(_ room: String, before: Int64?) {
    var isLoaded = false
    defer { if !isLoaded { take(.noPage(room: room)) } }
    keep { archive throws(ArchiveError) in
      let entries = try archive.page(of: room, before: before, limit: Self.pageEntries)
      let first = try archive.extent(of: room)?.first ?? .max
      let isAll = entries.count < Self.pageEntries
      let isComplete = isAll && (first <= 1 || reaches.contains(room))
      // The relay is asked before the page is displayed, so that the page is displayed as still
      // loading.
      if isAll, !isComplete, first < .max, askForHistory(of: room, before: first) {
        chat.historyIsAsked(for: room)
      }
      isLoaded = true
      take(.page(room: room, before: before, entries, isComplete: isComplete))
    }
  }
}

extension Archive.Room {
  init(_ conversation: Conversation) {
    self.init(
      room: conversation.room, title: conversation.title, peer: conversation.peer)
    isBot = conversation.isBot
    isMember = conversation.isMember
    head = conversation.head
    read = conversation.read
    unread = conversation.unread
    notifications = conversation.notifications.rawValue
    isPinned = conversation.isPinned
    isMarkedUnread = conversation.isMarkedUnread
    marks = conversation.marks.map {
      .init(user: $0.key, received: $0.value.received, read: $0.value.read)
    }
  }
}

extension Conversation {
  init(_ kept: Archive.Room) {
    self.init(room: kept.room, title: kept.title, peer: kept.peer)
    isBot = kept.isBot
    isMember = kept.isMember
    head = kept.head
    latest = kept.latest
    read = kept.read
    unread = kept.unread
    notifications = Notifications(rawValue: kept.notifications) ?? .all
    isPinned = kept.isPinned
    isMarkedUnread = kept.isMarkedUnread
    for mark in kept.marks {
      marks[mark.user] = .init(received: mark.received, read: mark.read)
    }
    last = kept.last.map {
      .init(seq: $0.seq, from: $0.from, text: $0.text ?? "", at: $0.at)
    }
  }
}
