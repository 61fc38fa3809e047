internal import EventLoop
internal import Glibc
internal import Platform
internal import TLS
internal import WebSocket
public import Wire

/// A connection to a relay that reconnects by itself: the executor of a `ClientSession`.
///
/// Confined to its loop's thread, as everything of the loop is. It has no thread and no buffer of
/// its own, so that one loop can serve thousands of clients. It cannot be used after `ended`.
public final class Client {
  /// The relay and the credentials; changes apply from the next connection on.
  public var configuration: Configuration
  /// The receiver of events.
  public weak var handler: (any ClientHandler)?

  let shared: ClientLoop
  var index: Int?
  private var session: ClientSession
  var link = Link()
  /// The ticket of the last TLS session, which shortens the next handshake with the same relay.
  var ticket: (TLSTicket, RelayURL, TLSTrust)?
  private var timer = DeadlineTimer()
  /// Actions that are being executed in order; handlers append to the end.
  private var actions: [ClientSession.Action] = []
  private var isActing = false
  private var isDirty = false

  /// Creates a client that does nothing before `start`.
  public init(_ configuration: Configuration, on shared: ClientLoop) {
    self.configuration = configuration
    self.shared = shared
    session = ClientSession(
      idPrefix: ClientSession.idPrefix(using: &shared.links.random),
      seed: shared.links.random.next(), settings: configuration.settings)
  }

  /// Whether the relay has sent `welcome` and the connection is believed to be alive.
  public var isLive: Bool { session.isLive }

  /// The number of lines that the relay has not acknowledged.
  public var unacknowledged: Int { session.unacknowledged }

  /// Connects, and stays connected until `close()`.
  public func start() {
    precondition(index == nil && !session.hasEnded, "the client has already been started")
    index = shared.insert(self)
    perform { $0.start(at: $1, &$2) }
  }

  /// Closes the connection; `ended` follows. Unacknowledged lines are abandoned.
  public func close() {
    perform { $0.close(at: $1, &$2) }
  }

  /// See `ClientSession.reconnect`.
  public func reconnect() {
    perform { $0.reconnect(at: $1, &$2) }
  }

  /// See `ClientSession.join`.
  public func join(
    _ room: String, from start: JoinStart = .head, countingSubscribers: Bool = false
  ) {
    perform { session, _, actions in
      session.join(room, from: start, countingSubscribers: countingSubscribers, &actions)
    }
  }

  /// See `ClientSession.leave`.
  public func leave(_ room: String, forgetting: Bool = false) {
    perform { session, _, actions in
      session.leave(room, forgetting: forgetting, &actions)
    }
  }

  /// Sends a line of text, again if necessary, until it is answered.
  ///
  /// - Returns: The id that `acknowledged` or `refused` will carry.
  @discardableResult
  public func send(_ text: String, to room: String) -> String {
    // The only place that knows how a text becomes an entry's body.
    let send = ClientMessage.Send(room: room, id: "", text: text)
    return self.send(send.kind, send.body, to: room)
  }

  /// Sends an entry of any kind; `body` as in `Entry.body`.
  @discardableResult
  public func send(_ kind: EntryKind, _ body: [UInt8], to room: String) -> String {
    var id = ""
    perform { id = $0.send(kind, body, to: room, at: $1, &$2) }
    return id
  }

  /// Sends an entry whose id was chosen before; see `ClientSession.send`.
  public func send(_ send: ClientMessage.Send) {
    perform { $0.send(send, at: $1, &$2) }
  }

  /// See `ClientSession.withdraw`.
  public func withdraw(room: String, id: String) -> Bool {
    var isWithdrawn = false
    perform { session, _, _ in isWithdrawn = session.withdraw(room: room, id: id) }
    return isWithdrawn
  }

  /// See `ClientSession.mark`.
  public func mark(_ room: String, received: Int64 = 0, read: Int64 = 0) {
    perform { $0.mark(room, received: received, read: read, at: $1, &$2) }
  }

  /// See `ClientSession.request`.
  @discardableResult
  public func request(_ message: ClientMessage) -> Bool {
    var isSent = false
    perform { session, _, actions in isSent = session.request(message, &actions) }
    return isSent
  }

  /// Uses another token, on the current connection and from then on. See `ClientEvent.tokenWanted`.
  public func renew(token: String) {
    configuration.token = token
    perform { $0.renew(token, at: $1, &$2) }
  }

  // MARK: The session's executor

  /// Passes an input to the session and executes the resulting actions.
  private func perform(
    _ body: (inout ClientSession, Instant, inout [ClientSession.Action]) -> Void
  ) {
    body(&session, shared.loop.now, &actions)
    act()
    setTimer()
  }

  private func act() {
    // If a handler called this, the outer call executes the added actions.
    if isActing { return }
    isActing = true
    var next = 0
    while next < actions.count {
      let action = actions[next]
      next += 1
      act(action)
    }
    actions.removeAll(keepingCapacity: actions.capacity <= 16)
    isActing = false
    if session.hasEnded { retire() }
  }

  private func act(_ action: ClientSession.Action) {
    switch action {
    case .connect:
      let host = ClientLoop.Host(name: configuration.url.host, port: configuration.url.port)
      link.phase = .resolving(host)
      shared.resolve(host, for: self)
    case .transmit(let message):
      shared.links.withScratch { json in
        message.append(to: &json)
        link.append(.text, json.span, with: shared.links)
      }
      markDirty()
    case .ping:
      link.appendPing(with: shared.links)
      markDirty()
    case .close:
      link.close(.normal, with: shared.links)
      markDirty()
    case .abandon(let code):
      link.close(code, with: shared.links)
      link.flush()
      drop()
    case .event(let event): handler?.client(self, event)
    }
  }

  func markDirty() {
    guard let index, !isDirty else { return }
    isDirty = true
    shared.markDirty(index)
  }

  private func setTimer() {
    guard let index else { return }
    timer.follow(session.deadline, on: shared.loop, token: ClientLoop.token(of: index))
  }

  func timerFired(_ timer: TimerID) {
    guard self.timer.hasFired(timer) else { return }
    perform { $0.tick(at: $1, &$2) }
  }

  private func retire() {
    guard let index else { return }
    drop()
    timer.cancel(on: shared.loop)
    self.index = nil
    shared.remove(index)
  }

  /// Drops the connection or the attempt.
  func drop() {
    if let ticket = link.tls?.ticket {
      self.ticket = (ticket, configuration.url, configuration.trust)
    }
    link.drop(from: shared.loop)
  }

  func lose(_ error: ClientError) {
    drop()
    perform { $0.disconnected(error, at: $1, &$2) }
  }

  // MARK: Reading

  func read() {
    var input = shared.links.borrowInput()
    defer { shared.links.returnInput(input) }
    for _ in 0..<Link.readsPerTurn {
      switch link.read(into: &input) {
      case .bytes:
        session.heard(at: shared.loop.now)
        take(&input)
        followEncryption()
        if !input.isFull { return }
      case .nothing: return
      case .ended(let end): return lose(ClientError(end))
      }
    }
  }

  private func take(_ input: inout LinkInput) {
    while let event = link.next(in: &input, with: shared.links) {
      switch event {
      case .message(.text): input.withMessage(take)
      case .message, .opened: break
      case .ended(let end): return lose(ClientError(end))
      }
    }
    if link.hasOutput { markDirty() }
  }

  private func take(_ json: Span<UInt8>) {
    var isNews = true
    // The protocol can be extended: an unknown message is passed to the handler only.
    if let message = try? ServerMessage(decoding: json) {
      isNews = session.receive(message, at: shared.loop.now, &actions)
    }
    if isNews {
      // Actions that the handler causes are executed after those of this message.
      isActing = true
      handler?.client(self, received: json)
      isActing = false
    }
    act()
    setTimer()
  }

  // MARK: Writing

  /// Sends the output of this turn.
  func flush() {
    isDirty = false
    guard link.hasSocket else { return }
    do {
      try link.flush(on: shared.loop)
    } catch {
      return lose(.lost(error))
    }
    let wasCongested = session.isCongested
    session.isCongested = link.outputBytes > Link.congestedBytes
    if wasCongested, !session.isCongested { perform { $0.pump(at: $1, &$2) } }
  }
}
