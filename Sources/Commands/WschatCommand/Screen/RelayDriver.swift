import Archive
import Client
import Messenger
import Wire

/// The connection to the relay: its rooms, the user's messages on their way to it, and its token.
final class RelayDriver {
  /// The token command is run again this long after it has failed.
  private static let renewalRetryMilliseconds = 60_000
  /// A conversation that lags by more entries is begun anew with the newest ones.
  private static let catchUpEntries: Int64 = 500

  private let client: Client
  private let store: ArchiveDriver
  private let host: ChatHost
  private let renewal: TokenRenewal?
  private lazy var renewalRetry = Alarm(on: host.dispatcher) { [unowned self] in renewToken() }
  /// Rooms that are joined or being joined.
  private var joins: Set<String> = []
  /// Whether the relay has confirmed the user.
  private(set) var isAuthenticated = false
  /// Messages of an earlier run, which may have sent them.
  private var restored: Set<String> = []
  /// The draft of the message that is sent next.
  private var endedDraft: Archive.Draft.Version?
  /// The ids of messages that wait for a file.
  private var held: Set<String> = []

  init(
    _ client: Client, _ store: ArchiveDriver, _ host: ChatHost, tokens: TokenCommand?
  ) throws {
    self.client = client
    self.store = store
    self.host = host
    renewal = try tokens.map { try TokenRenewal($0, on: host.dispatcher) }
    renewal?.ended = { [unowned self] in use($0) }
  }

  /// Forgets what belongs to the archive of another user.
  func reset() {
    isAuthenticated = false
    joins = []
    restored = []
    held = []
    endedDraft = nil
  }

  func record(_ event: ClientEvent) {
    switch event {
    case .joinRefused(let room, _), .left(let room, _): joins.remove(room)
    case .tokenWanted: renewToken()
    default: break
    }
  }

  func join(_ room: String, head: Int64?) {
    guard joins.insert(room).inserted else { return }
    var start = JoinStart.newest(ArchiveDriver.pageEntries)
    store.use { archive throws(ArchiveError) in
      guard let extent = try archive.extent(of: room) else { return }
      if (head ?? extent.latest) - extent.latest <= Self.catchUpEntries {
        start = .after(extent.latest, epoch: extent.epoch, lineage: extent.lineage)
      }
    }
    client.join(room, from: start)
  }

  func leave(_ room: String) {
    if joins.remove(room) != nil {
      client.leave(room, forgetting: true)
    } else {
      client.request(.leave(room: room, forget: true))
    }
    store.forget(room)
  }

  func reconnect() {
    if host.chat.conditions[.noToken] != nil { renewToken() }
    client.reconnect()
  }

  /// The request for pictures; `nil` before the relay has confirmed the user.
  var pictureRequest: PictureRequest? {
    guard isAuthenticated else { return nil }
    let configuration = client.configuration
    return PictureRequest(
      relay: RelayRequest(
        url: configuration.url, trust: configuration.trust, token: configuration.token),
      user: host.chat.user)
  }

  // MARK: Messages

  /// The next message was written in this draft.
  func end(_ draft: Archive.Draft.Version) { endedDraft = draft }

  /// Stores a message, which `sendHeld` sends.
  func hold(_ send: ClientMessage.Send, at: Int64) {
    held.insert(send.id)
    self.send(send, at: at)
  }

  /// Holds what waited for a file in an earlier run.
  func holdAgain(_ lines: [Chat.Outgoing]) {
    held.formUnion(lines.lazy.filter(\.isHeld).map(\.send.id))
  }

  func sendHeld(_ send: ClientMessage.Send) {
    guard held.remove(send.id) != nil else { return }
    if isAuthenticated || store.archive == nil { client.send(send) }
  }

  func send(_ send: ClientMessage.Send, at: Int64) {
    // Stored first: a message that was displayed as sent is not lost, and what was its draft is
    // gone with it.
    let draft = endedDraft
    endedDraft = nil
    let isKept = store.use { archive throws(ArchiveError) in
      try archive.enqueue(send, at: at, draft: draft)
    }
    if !isKept { host.post(.kept(id: send.id, false)) }
    if isAuthenticated || !isKept, !held.contains(send.id) { client.send(send) }
  }

  func retry(_ send: ClientMessage.Send) {
    let isKept = store.use { archive throws(ArchiveError) in
      try archive.retry(room: send.room, id: send.id)
    }
    if isAuthenticated || !isKept { client.send(send) }
  }

  func discard(_ room: String, _ id: String) {
    store.use { archive throws(ArchiveError) in try archive.discard(room: room, id: id) }
  }

  func takeBack(_ room: String, _ id: String, edits: Bool) {
    // What was written before the relay has confirmed the user is not the client's yet.
    let isHeld = !isAuthenticated && store.archive != nil || held.remove(id) != nil
    guard !restored.contains(id), client.withdraw(room: room, id: id) || isHeld else {
      return host.post(
        .failed(
          "The relay may have this message already. It can be changed once the relay confirms it."))
    }
    discard(room, id)
    host.post(.takenBack(room: room, id: id, edits: edits))
  }

  /// Passes the stored messages to the client, after the relay has confirmed the expected user:
  /// messages of one user must not be sent as another's.
  func sendStored() {
    isAuthenticated = true
    store.use { archive throws(ArchiveError) in
      for line in try archive.outbox() where line.refusal == nil && !held.contains(line.send.id) {
        client.send(line.send)
      }
    }
  }

  /// Takes messages that the archive has from an earlier run.
  /// - Returns: What the chat needs of them: also the messages that they forward, by the id of the
  ///   outgoing message.
  func adopt(
    _ lines: [Archive.Outgoing], in archive: Archive
  ) throws(ArchiveError) -> (outgoing: [Chat.Outgoing], originals: [String: Entry]) {
    restored.formUnion(lines.map(\.send.id))
    var originals: [String: Entry] = [:]
    for line in lines {
      guard case .forward(let forward) = line.send.reference else { continue }
      originals[line.send.id] = try archive.entry(forward.room, forward.seq)
    }
    return (lines.map { .init(send: $0.send, at: $0.at, refusal: $0.refusal) }, originals)
  }

  /// Sends the messages of a process that has ended.
  func takeOver(_ lines: [Archive.Outgoing], in archive: Archive) throws(ArchiveError) {
    let (outgoing, originals) = try adopt(lines, in: archive)
    host.post(.takenOver(outgoing, originals: originals))
    guard isAuthenticated else { return }
    for line in lines where line.refusal == nil { client.send(line.send) }
  }

  // MARK: The token

  private func renewToken() {
    renewalRetry.cancel()
    renewal?.begin()
  }

  private func use(_ result: TokenRenewal.Outcome) {
    guard !host.isEnding else { return }
    switch result {
    case .success(let token):
      host.post(.condition(.noToken, nil))
      client.renew(token: token)
    case .failure(let failure):
      host.post(
        .condition(
          .noToken,
          "\(failure). It is run again every \(Self.renewalRetryMilliseconds / 1000) s."))
      renewalRetry.set(afterMilliseconds: Self.renewalRetryMilliseconds)
    }
  }
}
