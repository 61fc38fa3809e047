internal import Client
internal import EventLoop
internal import Platform
internal import TLS
internal import WebSocket
internal import Wire

/// One simulated user. Unlike a `Client` it tells an observer of every message, as it was received, and
/// can misbehave: break its connection without notice, and read slowly.
final class Peer {
  /// The receiver's number in the oracle.
  let receiver: Int
  private let user: String
  private let shared: PeerLoop
  let connection: LinkState
  let execution: SessionExecution
  private var nextAddress = 0
  /// Hints where the session finds the rooms of the oracle's cursors.
  private var hints: [Int] = []

  /// Cut and not yet back; the session does not know it.
  private(set) var isAsleep = false
  /// The maximum number of bytes read per second; 0 is no limit.
  private var readBytesPerSecond: Int
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
    connection = LinkState(shared.loop, shared.links)
    execution = SessionExecution(
      ClientSession(
        idPrefix: idPrefix, seed: shared.links.random.next(), settings: Self.settings))
    connection.readLimit = readShare
    if shared.isBalanced { nextAddress = receiver }
  }

  /// The relay that it is connected to, or tries to; `nil` if none.
  var addressIndex: Int? {
    connection.link.hasSocket
      ? (nextAddress + shared.addresses.count - 1) % shared.addresses.count : nil
  }

  var isLive: Bool { execution.session.isLive && !isAsleep }
  var isConnected: Bool { connection.link.isOpen }
  var hasEnded: Bool { execution.session.hasEnded }

  func join(_ room: String, from start: JoinStart) {
    perform { session, _, actions in session.join(room, from: start, &actions) }
  }

  func leave(_ room: String) {
    perform { session, _, actions in session.leave(room, &actions) }
  }

  func close() {
    isAsleep = false
    perform { $0.close(at: $1, &$2) }
  }

  /// Breaks the connection silently, as in a tunnel: the session is not told before `wake`.
  func cut() {
    guard !isAsleep, !hasEnded else { return }
    isAsleep = true
    connection.drop()
    didLoseConnection(.lost(nil))
  }

  /// Breaks the connection by a reset, like a middlebox: the session reconnects immediately.
  func abort() {
    guard isConnected else { return }
    connection.link.resetOnClose()
    lose(.lost(nil))
  }

  func wake() {
    guard isAsleep else { return }
    isAsleep = false
    perform { $0.disconnected(.lost(nil), at: $1, &$2) }
  }

  // MARK: Reading slowly

  /// Removes the limit on reading.
  func readFreely() {
    readBytesPerSecond = 0
    resumeReading()
  }

  private var readShare: Int {
    readBytesPerSecond > 0 ? max(1, readBytesPerSecond / Self.sharesPerSecond) : .max
  }

  private func pauseReading() {
    connection.isPaused = true
    pauseTimer = shared.loop.schedule(
      afterMilliseconds: 1000 / Self.sharesPerSecond, token: connection.token)
    outputWaits()
  }

  private func resumeReading() {
    connection.isPaused = false
    connection.readLimit = readShare
    outputWaits()
  }
}

extension Peer: LinkExecutor {
  var executors: LinkLoop<Peer> { shared.executors }

  func openConnection() {
    // While asleep it has no network; the session retries by itself.
    guard !isAsleep else { return }
    shared.observer?.peerConnects(self)
    let address = shared.addresses[nextAddress % shared.addresses.count]
    nextAddress += 1
    do {
      try connection.connect(
        to: address, from: shared.source(of: receiver),
        receiveBufferBytes: readBytesPerSecond > 0 ? Self.slowBufferBytes : nil)
    } catch {
      perform { $0.disconnected(.unreachable(error), at: $1, &$2) }
    }
  }

  func handshake() -> ClientHandshake {
    ClientHandshake(
      host: shared.url.authority, target: shared.url.target(adding: "user", user),
      subprotocols: ["relay.v1"], nonce: shared.links.nonce())
  }

  func connected() {
    guard let authorities = shared.authorities else { return greet() }
    secure(with: authorities, host: shared.url.host)
  }

  func followEncryption() { followEncryption(with: shared.url.host) }

  func arrived(_ count: Int) {
    hear()
    // The clock is read once for all data of one read.
    shared.readAt = .now()
    guard readBytesPerSecond > 0 else { return }
    connection.readLimit -= count
    if connection.readLimit <= 0 { pauseReading() }
  }

  /// Handles entries that are known to be good, without decoding their frames: most of what a
  /// crowd of peers receives.
  func skipKnown(_ input: inout LinkInput) {
    guard connection.link.isBetweenMessages, let observer = shared.observer else { return }
    while input.offset < input.count {
      let next = input.offset..<input.count
      guard let run = observer.peer(self, knows: input.bytes.span.extracting(next)) else { return }
      while hints.count <= run.cursor { hints.append(0) }
      let room = shared.rooms[run.room]
      guard advance(room, from: run.first, count: run.count, hint: &hints[run.cursor]) else {
        return
      }
      observer.peer(self, passed: run)
      input.skip(run.bytes)
    }
  }

  func ownTimerFired(_ timer: TimerID) {
    if timer == pauseTimer { resumeReading() }
  }

  /// Unlike a user's client a simulated one retries whatever the relay says.
  func error(of end: LinkEnd) -> ClientError {
    switch end {
    case .handshake(let failure): .handshake(failure)
    case .violation(let violation): .violation(violation)
    case .closed(let code, let reason): .closed(code, reason: reason)
    case .lost(let error): .lost(error)
    }
  }

  func didTransmit(_ message: ClientMessage) {
    shared.observer?.peer(self, transmits: message)
  }

  func didReceive(_ message: ServerMessage?, _ json: Span<UInt8>, isNews: Bool) {
    if let message { shared.observer?.peer(self, received: message, json) }
  }

  func didLoseConnection(_ error: ClientError) {
    shared.observer?.peer(self, lostConnection: error)
  }

  func report(_ event: ClientEvent) { shared.observer?.peer(self, event) }
}
