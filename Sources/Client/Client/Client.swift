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
  private var timer: TimerID?
  private var timerAt = Instant(nanoseconds: .max)
  /// Actions that are being executed in order; handlers append to the end.
  private var actions: [ClientSession.Action] = []
  private var isActing = false
  private var isDirty = false

  /// Creates a client that does nothing before `start`.
  public init(_ configuration: Configuration, on shared: ClientLoop) {
    self.configuration = configuration
    self.shared = shared
    session = ClientSession(
      idPrefix: ClientSession.idPrefix(using: &shared.random), seed: shared.random.next(),
      settings: configuration.settings)
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
      shared.withScratch { json in
        message.append(to: &json)
        link.append(
          .text, json.span, compressing: shared.deflateStreams, maskKey: shared.nextMaskKey())
      }
      markDirty()
    case .ping:
      link.appendPing(maskKey: shared.nextMaskKey())
      markDirty()
    case .close:
      link.close(.normal, maskKey: shared.nextMaskKey())
      markDirty()
    case .abandon(let code):
      link.close(code, maskKey: shared.nextMaskKey())
      _ = link.flush()
      drop()
    case .event(let event): handler?.client(self, event)
    }
  }

  func markDirty() {
    guard let index, !isDirty else { return }
    isDirty = true
    shared.markDirty(index)
  }

  /// Makes sure that a timer fires at the session's deadline or earlier; an early one is harmless.
  private func setTimer() {
    guard let index, let deadline = session.deadline, deadline < timerAt else { return }
    let token = ClientLoop.token(of: index)
    timerAt = deadline
    if let timer, shared.loop.reschedule(timer, at: deadline) { return }
    timer = shared.loop.schedule(at: deadline, token: token)
  }

  func timerFired(_ timer: TimerID) {
    guard timer == self.timer else { return }
    self.timer = nil
    timerAt = Instant(nanoseconds: .max)
    perform { $0.tick(at: $1, &$2) }
  }

  private func retire() {
    guard let index else { return }
    drop()
    if let timer { shared.loop.cancel(timer) }
    timer = nil
    self.index = nil
    shared.remove(index)
  }

  /// Drops the connection or the attempt.
  func drop() {
    if let ticket = link.encryption?.ticket {
      self.ticket = (ticket, configuration.url, configuration.trust)
    }
    link.sendCloseNotify()
    if let registration = link.registration { shared.loop.deregister(registration) }
    link = Link()
  }

  func lose(_ error: ClientError) {
    drop()
    perform { $0.disconnected(error, at: $1, &$2) }
  }

  // MARK: Reading

  /// The maximum number of reads per turn, so that a busy connection does not starve the others.
  private static let readsPerTurn = 4

  func read() {
    var buffer = shared.borrowReadBuffer()
    defer { shared.returnReadBuffer(buffer) }
    for _ in 0..<Self.readsPerTurn {
      guard let result = link.read(into: &buffer) else { return }
      switch result {
      case .bytes(let count):
        session.heard(at: shared.loop.now)
        if count > 0 { take(&buffer, count: count) }
        followEncryption()
        if count < buffer.count { return }
      case .wouldBlock: return
      case .end: return ended(nil)
      case .failed(let error): return ended(error)
      }
    }
  }

  func ended(_ error: SystemError?) {
    if case .handshaking = link.phase {
      // A refusal may have come without a length.
      do {
        _ = try link.finishHandshake(atEnd: true, sharing: shared.deflateStreams)
      } catch {
        return lose(ClientError(handshake: error))
      }
    }
    lose(.lost(error))
  }

  private func take(_ buffer: inout [UInt8], count: Int) {
    if case .handshaking = link.phase {
      link.received.append(contentsOf: buffer[..<count])
      do {
        let isOpen = try link.finishHandshake(atEnd: false, sharing: shared.deflateStreams)
        guard isOpen else { return }
      } catch {
        return lose(ClientError(handshake: error))
      }
      var rest: [UInt8] = []
      swap(&rest, &link.received)
      return takeFrames(&rest, count: rest.count)
    }
    takeFrames(&buffer, count: count)
  }

  private func takeFrames(_ buffer: inout [UInt8], count: Int) {
    var offset = 0
    while case .open = link.phase {
      let event: Connection.Event?
      do throws(ProtocolViolation) {
        event = try link.next(in: &buffer, count: count, at: &offset) { shared.nextMaskKey() }
      } catch {
        link.close(error.closeCode, reason: error.description, maskKey: shared.nextMaskKey())
        _ = link.flush()
        return lose(.violation(error))
      }
      guard let event else { break }
      switch event {
      case .message(let opcode, let payload):
        guard opcode == .text else { continue }
        switch payload {
        case .input(let range): take(buffer.span.extracting(range))
        case .assembled:
          let message = link.assembled
          take(message.span)
        }
      case .ping, .pong: break
      case .close(let code, let reason):
        // The relay closes the socket next; a proxy that does not must not delay the client.
        _ = link.flush()
        return lose(ClientError(closeCode: code, reason: reason))
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

  /// Above this amount of unsent output the session holds its lines back.
  private static let congestedBytes = 64 * 1024

  /// Sends the output of this turn.
  func flush() {
    isDirty = false
    guard link.registration != nil else { return }
    let isBlocked = link.flush()
    if let registration = link.registration {
      do {
        try shared.loop.change(registration, for: link.interest(isBlocked: isBlocked))
      } catch {
        return lose(.lost(error))
      }
    }
    let wasCongested = session.isCongested
    session.isCongested = link.outputBytes > Self.congestedBytes
    if wasCongested, !session.isCongested { perform { $0.pump(at: $1, &$2) } }
  }
}
