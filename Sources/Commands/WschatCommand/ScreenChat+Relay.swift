import Archive
import Client
internal import EventLoop
import Messenger
import Wire

/// Passes the relay's events to the archive, and then to the chat.
extension ScreenChat: ClientHandler {
  func client(_ client: Client, _ event: ClientEvent) {
    switch event {
    case .welcomed(let welcome):
      wasWelcomed = true
      let isOther = welcome.user != archiveUser
      if isOther { openArchive(of: welcome.user) }
      if isOther || !isAuthenticated { sendOutbox() }
    case .joined(let joined): keep(joined)
    case .entry(let entry): keep { $0.append(entry) }
    case .acknowledged(let ack): keep { $0.acknowledge(room: ack.room, id: ack.id) }
    case .refused(let send, let error):
      keep { archive throws(ArchiveError) in
        try archive.refuse(room: send.room, id: send.id, reason: error.message)
      }
    case .message(.history(let page)):
      fetching.remove(page.room)
      keep { archive throws(ArchiveError) in
        let fits = try archive.prepend(page.entries, to: page.room)
        if !fits || !page.more || page.entries.isEmpty { reaches.insert(page.room) }
      }
    case .tokenWanted: renewToken()
    case .ended(let error):
      fetching = []
      if exitCode != nil { return loop.stop() }
      exitMessage = "\(error)\(LineChat.advice(about: error))"
      endCode = error.isAccessDenied ? LineChat.accessDenied : LineChat.noConnection
      // A user who was connected before can go on reading, and write for the next time.
      if !wasWelcomed { return quit() }
    case .joinRefused(let room, _), .left(let room): joins.remove(room)
    case .message(.error(let error)) where error.re == .history: fetching = []
    case .disconnected: fetching = []
    case .message: break
    }
    take(.client(event))
    if case .welcomed = event, case .direct = options.room, chat.timeline == nil {
      openFirst()
      perform()
    }
  }

  /// Opens the requested conversation; a direct room when the user's own name is known.
  func openFirst() {
    chat.pane = .list
    switch options.room {
    case .named(let room): chat.open(room, &effects)
    case .direct(let peer):
      guard let user = chat.user else { return }
      guard peer != user else {
        return take(.failed("--to must name another user; you are \(user). Choose a conversation."))
      }
      chat.open(RoomName.direct(user, peer), &effects)
    case .person, nil: break
    }
  }

  func takeToken() {
    guard let result = renewal?.take(), exitCode == nil else { return }
    switch result {
    case .success(let token):
      self.token = token
      take(.condition(.noToken, nil))
      client.renew(token: token)
    case .failure(let failure):
      take(
        .condition(
          .noToken,
          "\(failure). It is run again every \(Self.renewalRetryMilliseconds / 1000) s."))
      renewalTimer = loop.schedule(
        afterMilliseconds: Self.renewalRetryMilliseconds, token: Token.renewalRetry)
    }
  }

  func renewToken() {
    if let renewalTimer { loop.cancel(renewalTimer) }
    renewalTimer = nil
    renewal?.begin()
  }

  // MARK: The archive

  /// Continues the archive's range of the room, or begins a new one.
  private func keep(_ joined: ServerMessage.Joined) {
    let room = joined.room
    keep { archive throws(ArchiveError) in
      switch joined.resume {
      case .reset:
        archive.begin(room, epoch: joined.epoch, lineage: joined.lineage, after: joined.after)
        reaches.remove(room)
      case .diverged:
        archive.truncate(
          room, after: joined.after, epoch: joined.epoch, lineage: joined.lineage)
      case .ok, .truncated:
        if let extent = try archive.extent(of: room), joined.after <= extent.latest {
          archive.setEpoch(room, epoch: joined.epoch, lineage: joined.lineage)
        } else {
          archive.begin(
            room, epoch: joined.epoch, lineage: joined.lineage, after: joined.after)
          reaches.remove(room)
        }
      }
      if joined.first > joined.after { reaches.insert(room) }
    }
  }
}
