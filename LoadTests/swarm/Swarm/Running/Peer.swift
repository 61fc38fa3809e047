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
  private var link = PeerLink()
  private var timer: TimerID?
  private var timerAt = Instant(nanoseconds: .max)
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
  private static let slowBufferBytes = 16 * 1024
  private static let readsPerTurn = 4
  private static let congestedBytes = 64 * 1024

  init(
    receiver: Int, user: String, idPrefix: String, readBytesPerSecond: Int = 0, on shared: PeerLoop
  ) {
    self.receiver = receiver
    self.user = user
    self.shared = shared
    self.readBytesPerSecond = readBytesPerSecond
    session = ClientSession(
      idPrefix: idPrefix, seed: shared.random.next(), settings: Self.settings)
    mayRead = readShare
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

  /// Breaks the connection by a reset, like a middlebox: the session reconnects at once.
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
      shared.withScratch { json in
        message.append(to: &json)
        link.append(json.span, maskKey: shared.nextMaskKey())
      }
      shared.observer?.peer(self, transmits: message)
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
    guard let index, let deadline = session.deadline, deadline < timerAt else { return }
    timerAt = deadline
    if let timer, shared.loop.reschedule(timer, at: deadline) { return }
    timer = shared.loop.schedule(at: deadline, token: PeerLoop.token(of: index))
  }

  func timerFired(_ timer: TimerID) {
    if timer == pauseTimer {
      pauseTimer = nil
      return resumeReading()
    }
    guard timer == self.timer else { return }
    self.timer = nil
    timerAt = Instant(nanoseconds: .max)
    perform { $0.tick(at: $1, &$2) }
  }

  private func retire() {
    guard let index else { return }
    drop()
    for timer in [timer, pauseTimer] {
      if let timer { shared.loop.cancel(timer) }
    }
    (timer, pauseTimer) = (nil, nil)
    self.index = nil
    shared.remove(index)
  }

  private func drop() {
    if let registration = link.registration { shared.loop.deregister(registration) }
    link = PeerLink()
  }

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
      let socket = try shared.connect(to: address, for: receiver)
      // Otherwise the kernel would buffer megabytes for it.
      if readBytesPerSecond > 0 {
        try socket.borrowed.setReceiveBuffer(bytes: Self.slowBufferBytes)
      }
      let registration = try shared.loop.register(
        socket.descriptor, for: .writable, token: PeerLoop.token(of: index))
      link.adopt(socket, registration)
    } catch {
      // The resulting actions are appended to those in progress.
      session.disconnected(.unreachable(error), at: shared.loop.now, &actions)
    }
  }

  func ready(_ readiness: Readiness) {
    switch link.phase {
    case .none: break
    case .connecting:
      if let error = link.connectionError() { lose(.unreachable(error)) } else { greet() }
    case .handshaking, .open:
      if readiness.contains(.writable) { markDirty() }
      if !isPaused, !readiness.isDisjoint(with: [.readable, .closed, .failed]) { read() }
    }
  }

  private func greet() {
    let nonce = (0..<16).map { _ in UInt8.random(in: 0...255, using: &shared.random) }
    link.begin(
      ClientHandshake(
        host: shared.url.authority, target: shared.url.target(adding: "user", user),
        subprotocols: ["relay.v1"], nonce: nonce))
    markDirty()
  }

  // MARK: Reading

  private var readShare: Int {
    readBytesPerSecond > 0 ? max(1, readBytesPerSecond / Self.sharesPerSecond) : .max
  }

  private func read() {
    var buffer = shared.borrowReadBuffer()
    defer { shared.returnReadBuffer(buffer) }
    for _ in 0..<Self.readsPerTurn {
      let limit = min(mayRead, buffer.count)
      guard let result = link.read(into: &buffer, limit: limit) else { return }
      switch result {
      case .bytes(let count):
        session.heard(at: shared.loop.now)
        // The clock is read once for all data of one read.
        shared.readAt = .now()
        take(&buffer, count: count)
        if readBytesPerSecond > 0 {
          mayRead -= count
          if mayRead <= 0 { return pauseReading() }
        }
        if count < limit { return }
      case .wouldBlock: return
      case .end: return ended(nil)
      case .failed(let error): return ended(error)
      }
    }
  }

  private func pauseReading() {
    guard let index, link.registration != nil else { return mayRead = readShare }
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

  private func ended(_ error: SystemError?) {
    if case .handshaking = link.phase {
      do {
        _ = try link.finishHandshake(atEnd: true)
      } catch {
        return lose(.handshake(error))
      }
    }
    lose(.lost(error))
  }

  private func take(_ buffer: inout [UInt8], count: Int) {
    guard case .handshaking = link.phase else { return takeFrames(&buffer, count: count) }
    link.received.append(contentsOf: buffer[..<count])
    do {
      guard try link.finishHandshake(atEnd: false) else { return }
    } catch {
      return lose(.handshake(error))
    }
    var rest: [UInt8] = []
    swap(&rest, &link.received)
    takeFrames(&rest, count: rest.count)
  }

  private func takeFrames(_ buffer: inout [UInt8], count: Int) {
    var offset = 0
    while link.isOpen {
      offset += passKnown(buffer.span.extracting(offset..<count))
      let event: Connection.Event?
      do throws(ProtocolViolation) {
        event = try link.next(in: &buffer, count: count, at: &offset) { shared.nextMaskKey() }
      } catch {
        link.close(error.closeCode, maskKey: shared.nextMaskKey())
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
        _ = link.flush()
        return lose(.closed(code, reason: reason))
      }
    }
    if link.outputBytes > 0 { markDirty() }
  }

  /// Handles entries that are known to be good.
  ///
  /// - Returns: The length of their frames.
  private func passKnown(_ bytes: Span<UInt8>) -> Int {
    guard bytes.count > 0, link.isBetweenFrames, let observer = shared.observer else { return 0 }
    var taken = 0
    while taken < bytes.count {
      let rest = bytes.extracting(taken..<bytes.count)
      guard let run = observer.peer(self, knows: rest) else { break }
      while hints.count <= run.cursor { hints.append(0) }
      let room = shared.rooms[run.room]
      guard
        session.advance(room, from: run.first, count: run.count, hint: &hints[run.cursor])
      else { break }
      observer.peer(self, passed: run)
      taken += run.bytes
    }
    return taken
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
    guard let registration = link.registration else { return }
    if case .connecting = link.phase { return }
    let isBlocked = link.flush()
    var interest: Interest = isPaused ? [] : .readable
    if isBlocked { interest.insert(.writable) }
    do {
      try shared.loop.change(registration, for: interest)
    } catch {
      return lose(.lost(error))
    }
    let wasCongested = session.isCongested
    session.isCongested = link.outputBytes > Self.congestedBytes
    if wasCongested, !session.isCongested { perform { $0.pump(at: $1, &$2) } }
  }
}
