import Archive
import Client
import EventLoop
import Messenger
import Platform
import Wire

/// What is shared with other wschat of the same account on this machine: drafts, the outbox, and
/// the state of conversations.
extension ScreenChat {
  /// A draft that could not be stored, as another process held the lock, or the disk was full.
  struct WaitingDraft {
    var room: String
    var text: String
    var base: Draft.Version?
  }

  /// Changes of others are collected for this long.
  private static let sharingMilliseconds = 50
  /// How often it is checked whether another process has ended, while it has messages to send; and
  /// whether one has written, where the system cannot tell.
  private static let pollMilliseconds = 1000

  func startSharing() {
    guard let archive else { return }
    if archive.watchDescriptor >= 0 {
      archiveRegistration = try? loop.register(
        archive.watchDescriptor, for: .readable, token: Token.archive)
    }
    share()
  }

  func stopSharing() {
    if let archiveRegistration { loop.deregister(archiveRegistration) }
    archiveRegistration = nil
    if let sharing { loop.cancel(sharing.timer) }
    sharing = nil
    othersHaveWritten = false
    waitingDrafts = []
    endedDraft = nil
  }

  /// Handles a change of the file, by this process or another.
  func archiveWasWritten() {
    archive?.clearWatch()
    scheduleSharing(afterMilliseconds: Self.sharingMilliseconds)
  }

  private func scheduleSharing(afterMilliseconds milliseconds: Int) {
    let at = loop.now.adding(milliseconds: milliseconds)
    if let (timer, due) = sharing {
      if due <= at { return }
      loop.cancel(timer)
    }
    sharing = (loop.schedule(at: at, token: Token.sharing), at)
  }

  /// Takes what other processes have changed.
  func share() {
    sharing = nil
    var polls = archiveRegistration == nil
    if !waitingDrafts.isEmpty { saveWaitingDrafts() }
    keep { archive throws(ArchiveError) in
      if try archive.isChangedByOthers() { othersHaveWritten = true }
      if othersHaveWritten {
        // What is not stored here yet would be taken for older than what is.
        flushArchive()
        if waitingDrafts.isEmpty {
          othersHaveWritten = false
          try takeDrafts(archive)
          take(.shared(try archive.changedStates().map(SharedState.init)))
        } else {
          polls = true
        }
      }
      let (taken, othersRemain) = try archive.takeOver()
      if !taken.isEmpty { try takeOver(taken, archive) }
      if othersRemain { polls = true }
    }
    if polls, archive != nil { scheduleSharing(afterMilliseconds: Self.pollMilliseconds) }
  }

  private func takeDrafts(_ archive: Archive) throws(ArchiveError) {
    take(
      .drafts(
        try archive.drafts().mapValues { drafts in
          drafts.map { Draft(version: .init($0.version), text: $0.text) }
        }))
  }

  /// Sends the messages of a process that has ended.
  private func takeOver(
    _ taken: [Archive.Outgoing], _ archive: Archive
  ) throws(ArchiveError) {
    restoredLines.formUnion(taken.map(\.send.id))
    take(
      .takenOver(
        taken.map { .init(send: $0.send, at: $0.at, refusal: $0.refusal) },
        originals: try originals(of: taken, in: archive)))
    guard isAuthenticated else { return }
    for line in taken where line.refusal == nil { client.send(line.send) }
  }

  // MARK: Drafts

  func save(draft text: String, of room: String, inPlaceOf base: Draft.Version?) {
    waitingDrafts.removeAll { $0.room == room && $0.base == base }
    var version = base.map(Archive.Draft.Version.init)
    var isStored = false
    keep { archive throws(ArchiveError) in
      isStored = try archive.keep(draft: text, of: room, version: &version)
    }
    guard archive != nil else { return }
    guard isStored else {
      waitingDrafts.append(.init(room: room, text: text, base: base))
      return scheduleSharing(afterMilliseconds: Self.pollMilliseconds)
    }
    let kept = version.map(Draft.Version.init)
    take(.draftKept(room: room, inPlaceOf: base, kept))
    // Another process has changed it, or another draft was chosen here: there is more than one.
    let isOther = base != nil && kept != nil && kept?.branch != base?.branch
    if isOther || chat.conversations[room]?.draftVersion != kept {
      keep { archive throws(ArchiveError) in try takeDrafts(archive) }
    }
  }

  func saveWaitingDrafts() {
    let waiting = waitingDrafts
    waitingDrafts = []
    for draft in waiting { save(draft: draft.text, of: draft.room, inPlaceOf: draft.base) }
  }
}

extension Draft.Version {
  init(_ version: Archive.Draft.Version) {
    self.init(branch: version.branch, number: version.number)
  }
}

extension Archive.Draft.Version {
  init(_ version: Draft.Version) {
    self.init(branch: version.branch, number: version.number)
  }
}

extension SharedState {
  init(_ state: Archive.SharedState) {
    self.init(
      room: state.room, read: state.read,
      notifications: Conversation.Notifications(rawValue: state.notifications) ?? .all,
      isPinned: state.isPinned, isMarkedUnread: state.isMarkedUnread)
  }
}
