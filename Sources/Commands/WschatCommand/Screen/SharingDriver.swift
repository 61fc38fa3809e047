import Archive
import Messenger
import Platform

/// What is shared with other wschat of the same account on this machine: drafts, the outbox, and
/// the state of conversations.
final class SharingDriver {
  /// A draft that could not be stored, as another process held the lock, or the disk was full.
  private struct WaitingDraft {
    var room: String
    var text: String
    var base: Archive.Draft.Version?
  }

  /// Changes of others are collected for this long.
  private static let collectMilliseconds = 50
  /// How often it is checked whether another process has ended, while it has messages to send; and
  /// whether one has written, where the system cannot tell.
  private static let pollMilliseconds = 1000

  private let store: ArchiveDriver
  private let relay: RelayDriver
  private let host: ChatHost
  /// Reports changes of the archive's file, by this process or another.
  private var watch: Watch?
  private lazy var next = Alarm(on: host.dispatcher) { [unowned self] in share() }
  /// Changes of others are not taken yet.
  private var othersHaveWritten = false
  private var waiting: [WaitingDraft] = []

  init(_ store: ArchiveDriver, _ relay: RelayDriver, _ host: ChatHost) {
    self.store = store
    self.relay = relay
    self.host = host
  }

  func begin() {
    guard let archive = store.archive else { return }
    if archive.watchDescriptor >= 0 {
      watch = attempt(
        { host.post(.failed($0)) },
        { "What other wschats of yours read and write is not followed: \($0). Start wschat again." }
      ) { () throws(SystemError) in
        try Watch(archive.watchDescriptor, on: host.dispatcher) { [unowned self] _ in
          store.archive?.clearWatch()
          next.setEarliest(afterMilliseconds: Self.collectMilliseconds)
        }
      }
    }
    share()
  }

  func end() {
    watch = nil
    next.cancel()
    othersHaveWritten = false
    waiting = []
  }

  /// Takes what other processes have changed.
  private func share() {
    next.cancel()
    var polls = watch == nil
    saveWaiting()
    store.use { archive throws(ArchiveError) in
      if try archive.isChangedByOthers() { othersHaveWritten = true }
      if othersHaveWritten {
        // What is not stored here yet would be taken for older than what is.
        store.flush()
        if waiting.isEmpty {
          othersHaveWritten = false
          try takeDrafts(archive)
          host.post(.shared(try archive.changedStates()))
        } else {
          polls = true
        }
      }
      let (lines, othersRemain) = try archive.takeOver()
      if !lines.isEmpty { try relay.takeOver(lines, in: archive) }
      if othersRemain { polls = true }
    }
    if polls, store.archive != nil { next.setEarliest(afterMilliseconds: Self.pollMilliseconds) }
  }

  // MARK: Drafts

  private func takeDrafts(_ archive: Archive) throws(ArchiveError) {
    host.post(.drafts(try archive.drafts()))
  }

  func save(_ text: String, of room: String, inPlaceOf base: Archive.Draft.Version?) {
    forget(room, base)
    var version = base
    var isStored = false
    store.use { archive throws(ArchiveError) in
      isStored = try archive.keep(draft: text, of: room, version: &version)
    }
    guard store.archive != nil else { return }
    guard isStored else {
      waiting.append(.init(room: room, text: text, base: base))
      return next.setEarliest(afterMilliseconds: Self.pollMilliseconds)
    }
    host.post(.draftKept(room: room, inPlaceOf: base, version))
    // Another process has changed it, or another draft was chosen here: there is more than one.
    let isOther = base != nil && version != nil && version?.branch != base?.branch
    if isOther || host.chat.conversations[room]?.draftVersion != version {
      store.use { archive throws(ArchiveError) in try takeDrafts(archive) }
    }
  }

  /// Saves no longer what was to replace this version.
  func forget(_ room: String, _ base: Archive.Draft.Version?) {
    waiting.removeAll { $0.room == room && $0.base == base }
  }

  func saveWaiting() {
    let drafts = waiting
    waiting = []
    for draft in drafts { save(draft.text, of: draft.room, inPlaceOf: draft.base) }
  }
}
