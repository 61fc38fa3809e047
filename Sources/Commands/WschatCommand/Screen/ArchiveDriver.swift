import Archive
import Client
import EventLoop
import Messenger
import Wire

/// The archive of a user, which keeps what the relay sends and what the chat is to find again. If it
/// fails, the chat continues without it.
final class ArchiveDriver {
  /// The number of entries that a conversation shows at first, and that are loaded at once when
  /// scrolling up.
  static let pageEntries = 100
  /// Entries from the relay are collected for this long and written to the archive together.
  private static let flushMilliseconds = 100
  /// What could not be written is tried again after this time.
  private static let flushRetryMilliseconds = 5000

  /// Called after each flush.
  var flushed: () -> Void = {}
  /// `nil` if nothing can be stored.
  private(set) var archive: Archive?
  private(set) var user: String?
  /// Rooms of which the relay has nothing older than the archive.
  private(set) var completeRooms: Set<String> = []

  private let host: ChatHost
  /// Conversations whose state must be stored.
  private var unsaved: Set<String> = []
  private lazy var flushing = Alarm(on: host.dispatcher) { [unowned self] in flush() }

  init(_ host: ChatHost) { self.host = host }

  /// Opens the archive of a user.
  /// - Returns: Why nothing is saved; `nil` if all is well.
  func open(_ user: String, stateFolder: String) -> String? {
    self.user = user
    completeRooms = []
    let path = Archive.path(stateHome: stateFolder, relay: host.chat.relay, user: user)
    let limit = host.chat.settings.historyEntries
    do {
      archive = try Archive(
        path: path, entriesLimit: limit > 0 ? Int64(limit) : Archive.entriesLimit)
      return nil
    } catch {
      archive = nil
      return "Messages are not saved: \(error) Mend that, and start wschat again."
    }
  }

  /// Uses the archive; if that fails, the chat continues without it.
  /// - Returns: Whether it succeeded.
  @discardableResult
  func use(_ body: (Archive) throws(ArchiveError) -> Void) -> Bool {
    guard let archive else { return false }
    do throws(ArchiveError) {
      try body(archive)
      // Not after a read or the flush itself, so that an idle program does not wake up.
      if archive.hasChanges { scheduleFlush() }
      return true
    } catch {
      host.post(.condition(.notSaved, "Messages are not saved: \(error)"))
      return false
    }
  }

  /// Stores the state of a conversation with the next flush.
  func save(_ room: String) {
    unsaved.insert(room)
    scheduleFlush()
  }

  func forget(_ room: String) {
    unsaved.remove(room)
    completeRooms.remove(room)
    use { $0.forget(room) }
  }

  private func scheduleFlush(afterMilliseconds milliseconds: Int = flushMilliseconds) {
    if flushing.due == nil { flushing.set(afterMilliseconds: milliseconds) }
  }

  func flush() {
    let rooms = unsaved
    unsaved = []
    var isWritten = false
    let isKept = use { archive throws(ArchiveError) in
      for room in rooms {
        guard let conversation = host.chat.conversations[room] else { continue }
        archive.save(Archive.Room(conversation))
      }
      isWritten = archive.hasChanges || !host.chat.unkept.isEmpty
      // Messages that could not be stored when they were sent.
      for line in host.chat.unkept { try archive.enqueue(line.send, at: line.at) }
      try archive.flush()
    }
    if isKept, isWritten, archive?.hasChanges == false {
      for line in host.chat.unkept { host.post(.kept(id: line.send.id, true)) }
      host.post(.condition(.notSaved, nil))
    } else if archive != nil, !isKept {
      scheduleFlush(afterMilliseconds: Self.flushRetryMilliseconds)
    }
    flushed()
  }

  /// Passes the stored conversations to the chat.
  /// - Parameter outgoing: See `RelayDriver.adopt`.
  func restore(
    _ archive: Archive, outgoing: [Chat.Outgoing], originals: [String: Entry]
  ) throws(ArchiveError) {
    host.post(
      .restored(
        .init(
          conversations: try archive.rooms().map { room throws(ArchiveError) in
            var conversation = Conversation(room)
            conversation.mentions = try mentions(in: room, of: archive)
            return conversation
          },
          names: try archive.names(), outgoing: outgoing, originals: originals)))
  }

  /// Finds the mentions among the newest unread entries of a room.
  private func mentions(
    in room: Archive.Room, of archive: Archive
  ) throws(ArchiveError) -> [Int64] {
    guard room.peer == nil, room.unread > 0 else { return [] }
    let page = try archive.page(of: room.room, before: nil, limit: Self.pageEntries)
    return host.chat.mentions(in: page, after: room.read)
  }

  // MARK: What the relay sends

  /// Stores what an event of the relay brings.
  func record(_ event: ClientEvent) {
    use { archive throws(ArchiveError) in
      switch event {
      case .joined(let joined): try record(joined, archive)
      case .entry(let entry): archive.append(entry)
      case .acknowledged(let ack): archive.acknowledge(room: ack.room, id: ack.id)
      case .refused(let send, let error):
        try archive.refuse(room: send.room, id: send.id, reason: error.message)
      case .message(.history(let page)):
        let fits = try archive.prepend(page.entries, to: page.room)
        if !fits || !page.more || page.entries.isEmpty { completeRooms.insert(page.room) }
      default: break
      }
    }
  }

  /// Continues the archive's range of the room, or begins a new one.
  private func record(
    _ joined: ServerMessage.Joined, _ archive: Archive
  ) throws(ArchiveError) {
    let room = joined.room
    let (epoch, lineage) = (joined.epoch, joined.lineage)
    switch joined.resume {
    case .diverged: archive.truncate(room, after: joined.after, epoch: epoch, lineage: lineage)
    case .ok, .truncated, .reset:
      let extent = joined.resume == .reset ? nil : try archive.extent(of: room)
      if let extent, joined.after <= extent.latest {
        archive.setEpoch(room, epoch: epoch, lineage: lineage)
      } else {
        archive.begin(room, epoch: epoch, lineage: lineage, after: joined.after)
        completeRooms.remove(room)
      }
    }
    if joined.first > joined.after { completeRooms.insert(room) }
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
