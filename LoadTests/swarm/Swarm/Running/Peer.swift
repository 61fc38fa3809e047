internal import Client
internal import EventLoop
internal import Platform
internal import WebSocket
internal import Wire

/// One simulated user: an executor of `ClientSession`, like `Client`. An observer sees every frame
/// before the session handles it. The peer can misbehave: break its connection without notice, and
/// read slowly.
final class Peer {
  /// The receiver's number in the oracle.
  let receiver: Int
  private let user: String
  private let shared: PeerLoop
  private var index: Int?
  private var session: ClientSession
  private var link = Link()
  private var timer = DeadlineTimer()
  private var actions: [ClientSession.Action] = []
  private var isActing = false
  private var isDirty = false
  private var nextAddress = 0
  /// Hints where the session finds the rooms of the oracle's cursors.
  private var hints: [Int] = []

  /// Cut and not yet back; the session does not know it.
  private(set) var isAsleep = false
  /// The maximum number of bytes read per second; 0 is no limit.
  private var readBytesPerSecond: Int
  private var mayRead = 0
  private var isPaused = false
  private var pauseTimer: TimerID?

  /// How often per second a slow reader reads.
  private static let sharesPerSecond = 10
  /// A shorter back-off than a normal client's, so that a restarted relay meets all clients at
  /// once.
  private static let settings = {
    var settings = SessionSettings()
    settings.backoffLimitMilliseconds = 1_000
    return settings
  }()
  /// Otherwise the kernel would buffer megabytes for a slow reader.
  private static let slowBufferBytes = 16 * 1024

  init(
    receiver: Int, user: String, idPrefix: String, readBytesPerSecond: Int = 0, on shared: PeerLoop
  ) {
    self.receiver = receiver
    self.user = user
    self.shared = shared
    self.readBytesPerSecond = readBytesPerSecond
    session = ClientSession(
      idPrefix: idPrefix, seed: shared.links.random.next(), settings: Self.settings)
    mayRead = readShare
    if shared.isBalanced { nextAddress = receiver }
  }

  /// The relay that it is connected to, or tries to; `nil` if none.
  var addressIndex: Int? {
    link.hasSocket ? (nextAddress + shared.addresses.count - 1) % shared.addresses.count : nil
  }

  var isLive: Bool { session.isLive && !isAsleep }
  var isConnected: Bool { link.isOpen }
  var unacknowledged: Int { session.unacknowledged }
  var hasEnded: Bool { session.hasEnded }

  func start() {
    index = shared.insert(self)
    perform { $0.start(at: $1, &$2) }
  }

  func join(_ room: String, from start: JoinStart) {
    perform { session, _, actions in session.join(room, from: start, &actions) }
  }

  func leave(_ room: String) {
    perform { session, _, actions in session.leave(room, &actions) }
  }

  /// - Returns: The send's id.
  func send(_ text: String, to room: String) -> String {
    let send = ClientMessage.Send(room: room, id: "", text: text)
    var id = ""
    perform { id = $0.send(send.kind, send.body, to: room, at: $1, &$2) }
    return id
  }

  func close() {
    isAsleep = false
    perform { $0.close(at: $1, &$2) }
  }

  /// Breaks the connection silently, as in a tunnel: the session is not told before `wake`.
  func cut() {
    guard !isAsleep, !session.hasEnded else { return }
    isAsleep = true
    drop()
    shared.observer?.peer(self, lostConnection: .lost(nil))
  }

  /// Breaks the connection by a reset, like a middlebox: the session reconnects immediately.
  func abort() {
    guard link.isOpen else { return }
    link.resetOnClose()
    lose(.lost(nil))
  }

  func wake() {
    guard isAsleep else { return }
    isAsleep = false
    perform { $0.disconnected(.lost(nil), at: $1, &$2) }
  }

  /// Removes the limit on reading.
  func readFreely() {
    readBytesPerSecond = 0
    if isPaused { resumeReading() }
  }

  // MARK: The session's executor

  private func perform(
    _ body: (inout ClientSession, Instant, inout [ClientSession.Action]) -> Void
  ) {
    body(&session, shared.loop.now, &actions)
    act()
    setTimer()
  }

  private func act() {
    if isActing { return }
    isActing = true
    var next = 0
    while next < actions.count {
      let action = actions[next]
      next += 1
      act(action)
    }
    // Thousands of peers are idle at any time: none of them keeps a buffer.
    actions = []
    isActing = false
    if session.hasEnded { retire() }
  }

  private func act(_ action: ClientSession.Action) {
    switch action {
    case .connect: connect()
    case .transmit(let message):
      guard link.isOpen else { return }
      shared.links.withScratch { json in
        message.append(to: &json)
        link.append(.text, json.span, with: shared.links)
      }
      shared.observer?.peer(self, transmits: message)
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
      let wasConnected = link.isOpen
      drop()
      if wasConnected { shared.observer?.peer(self, lostConnection: .lost(nil)) }
    case .event(let event): shared.observer?.peer(self, event)
    }
  }

  private func markDirty() {
    guard let index, !isDirty else { return }
    isDirty = true
    shared.markDirty(index)
  }

  private func setTimer() {
    guard let index else { return }
    timer.follow(session.deadline, on: shared.loop, token: PeerLoop.token(of: index))
  }

  func timerFired(_ timer: TimerID) {
    if timer == pauseTimer {
      pauseTimer = nil
      return resumeReading()
    }
    guard self.timer.hasFired(timer) else { return }
    perform { $0.tick(at: $1, &$2) }
  }

  private func retire() {
    guard let index else { return }
    drop()
    timer.cancel(on: shared.loop)
    if let pauseTimer { shared.loop.cancel(pauseTimer) }
    pauseTimer = nil
    self.index = nil
    shared.remove(index)
  }

  private func drop() { link.drop(from: shared.loop) }

  private func lose(_ error: ClientError) {
    drop()
    shared.observer?.peer(self, lostConnection: error)
    perform { $0.disconnected(error, at: $1, &$2) }
  }

  // MARK: Connecting

  private func connect() {
    // While asleep it has no network; the session retries by itself.
    guard !isAsleep, let index else { return }
    shared.observer?.peerConnects(self)
    let address = shared.addresses[nextAddress % shared.addresses.count]
    nextAddress += 1
    do {
      try link.connect(
        to: address, from: shared.source(of: receiver),
        receiveBufferBytes: readBytesPerSecond > 0 ? Self.slowBufferBytes : nil,
        on: shared.loop, token: PeerLoop.token(of: index))
    } catch {
      // The resulting actions are appended to those in progress.
      session.disconnected(.unreachable(error), at: shared.loop.now, &actions)
    }
  }

  func ready(_ readiness: Readiness) {
    switch link.phase {
    case .none, .resolving, .securing: break
    case .connecting:
      if let error = link.connectionError() { lose(.unreachable(error)) } else { greet() }
    case .handshaking, .open:
      if readiness.contains(.writable) { markDirty() }
      if !isPaused, !readiness.isDisjoint(with: [.readable, .closed, .failed]) { read() }
    }
  }

  private func greet() {
    link.begin(
      ClientHandshake(
        host: shared.url.authority, target: shared.url.target(adding: "user", user),
        subprotocols: ["relay.v1"], nonce: shared.links.nonce()))
    markDirty()
  }

  // MARK: Reading

  private var readShare: Int {
    readBytesPerSecond > 0 ? max(1, readBytesPerSecond / Self.sharesPerSecond) : .max
  }

  private func read() {
    var input = shared.links.borrowInput()
    defer { shared.links.returnInput(input) }
    for _ in 0..<Link.readsPerTurn {
      switch link.read(into: &input, limit: mayRead) {
      case .bytes(let count):
        session.heard(at: shared.loop.now)
        // The clock is read once for all data of one read.
        shared.readAt = .now()
        take(&input)
        if readBytesPerSecond > 0 {
          mayRead -= count
          if mayRead <= 0 { return pauseReading() }
        }
        if !input.isFull { return }
      case .nothing: return
      case .ended(let end): return lose(ClientError(unfinal: end))
      }
    }
  }

  private func pauseReading() {
    guard let index, link.hasSocket else { return mayRead = readShare }
    isPaused = true
    pauseTimer = shared.loop.schedule(
      afterMilliseconds: 1000 / Self.sharesPerSecond, token: PeerLoop.token(of: index))
    markDirty()
  }

  private func resumeReading() {
    isPaused = false
    mayRead = readShare
    markDirty()
  }

  private func take(_ input: inout LinkInput) {
    while true {
      passKnown(&input)
      guard let event = link.next(in: &input, with: shared.links) else { break }
      switch event {
      case .message(.text): input.withMessage(take)
      case .message, .opened: break
      case .ended(let end): return lose(ClientError(unfinal: end))
      }
    }
    if link.hasOutput { markDirty() }
  }

  /// Handles entries that are known to be good, without decoding their frames: most of what a
  /// crowd of peers receives. The one step of the reading that a `Client` does not have.
  private func passKnown(_ input: inout LinkInput) {
    guard link.isBetweenMessages, let observer = shared.observer else { return }
    while input.offset < input.count {
      let next = input.offset..<input.count
      guard let run = observer.peer(self, knows: input.bytes.span.extracting(next)) else { return }
      while hints.count <= run.cursor { hints.append(0) }
      let room = shared.rooms[run.room]
      guard
        session.advance(room, from: run.first, count: run.count, hint: &hints[run.cursor])
      else { return }
      observer.peer(self, passed: run)
      input.skip(run.bytes)
    }
  }

  private func take(_ json: Span<UInt8>) {
    // Messages of unknown types are ignored.
    guard let message = try? ServerMessage(decoding: json) else { return }
    isActing = true
    shared.observer?.peer(self, received: message, json)
    isActing = false
    _ = session.receive(message, at: shared.loop.now, &actions)
    act()
    setTimer()
  }

  // MARK: Writing

  func flush() {
    isDirty = false
    guard link.hasSocket else { return }
    do {
      try link.flush(on: shared.loop, isReading: !isPaused)
    } catch {
      return lose(.lost(error))
    }
    let wasCongested = session.isCongested
    session.isCongested = link.outputBytes > Link.congestedBytes
    if wasCongested, !session.isCongested { perform { $0.pump(at: $1, &$2) } }
  }
}

extension ClientError {
  /// Unlike a user's client a simulated one retries whatever the relay says.
  fileprivate init(unfinal end: LinkEnd) {
    switch end {
    case .handshake(let failure): self = .handshake(failure)
    case .violation(let violation): self = .violation(violation)
    case .closed(let code, let reason): self = .closed(code, reason: reason)
    case .lost(let error): self = .lost(error)
    }
  }
}
