import Mixing
public import Platform
public import WebSocket
public import Wire

/// One user's session with a relay, over any number of connections.
///
/// A value without clock, socket or thread: events and the time go in; actions come out, to be
/// executed in order. `Client` is the executor on an event loop; a simulation is another.
public struct ClientSession: Sendable {
  /// What the executor must do.
  public enum Action: Equatable, Sendable {
    /// Begin to connect; report the outcome with `heard` and `receive`, or with `disconnected`.
    case connect
    /// Send this on the connection.
    case transmit(ClientMessage)
    /// Send a WebSocket ping.
    case ping
    /// Send a close frame, and wait for the relay's.
    case close
    /// Drop the connection or the attempt at once; a close frame with this code may be tried.
    case abandon(CloseCode)
    /// Report to the user.
    case event(ClientEvent)
  }

  /// The state of the session.
  enum Phase: Equatable, Sendable {
    case idle
    case waiting(until: Instant)
    case connecting(until: Instant)
    case live(since: Instant)
    case leaving(until: Instant)
    /// The relay has refused the token, and there may be another.
    case unauthenticated
    case ended
  }

  let settings: SessionSettings
  let idPrefix: String
  var idCount: UInt64 = 0
  var phase = Phase.idle
  var backoff: Backoff
  var random: SplitMix64

  var subscriptions: [Subscription] = []
  /// The number of unanswered leaves on this connection, by room: what arrives before their answers
  /// belongs to an earlier subscription.
  var leaving: [String: Int] = [:]
  /// Where the last entry's room was found; the next entry is usually of the same room.
  var lastFound = 0
  var outbox = Outbox()
  var limits = ServerMessage.Welcome.Limits()
  /// As the relay knows the user.
  var user = ""

  /// When the last bytes arrived, and when a ping was sent that nothing has followed yet.
  var heardAt = Instant(nanoseconds: 0)
  var pingedAt: Instant?
  /// When the last answer to a line arrived, or when the first line in flight was sent.
  var answeredAt = Instant(nanoseconds: 0)
  /// From `closing`; no more lines are sent.
  var reconnectAfterMilliseconds: Int?
  /// Why the relay is about to close the connection.
  var parting: String?
  /// When to ask for another token, on this connection.
  var renewAt: Instant?
  /// A token was refused and another one requested; none has been accepted since.
  var hasAskedForToken = false

  /// Whether output leaves too slowly; no lines are handed out while it does.
  public var isCongested = false

  /// Creates a session that does nothing before `start`.
  ///
  /// - Parameters:
  ///   - idPrefix: At most 40 printable ASCII characters, with at least 96 random bits: ids must be
  ///     unique over all devices and runs of the user.
  ///   - seed: The seed of the jitter; different for each session.
  public init(idPrefix: String, seed: UInt64, settings: SessionSettings = SessionSettings()) {
    precondition(idPrefix.utf8.count <= 40 && idPrefix.utf8.allSatisfy { 0x21...0x7E ~= $0 })
    self.idPrefix = idPrefix
    self.settings = settings
    random = SplitMix64(seed: seed)
    backoff = Backoff(
      firstMilliseconds: settings.firstBackoffMilliseconds,
      limitMilliseconds: settings.backoffLimitMilliseconds)
  }

  /// Returns a prefix for the ids of one run: 128 random bits (RFC 4122 has 122).
  public static func idPrefix(using random: inout some RandomNumberGenerator) -> String {
    (0..<2).map { _ in
      let digits = String(random.next() as UInt64, radix: 36)
      return String(repeating: "0", count: 13 - digits.utf8.count) + digits
    }.joined()
  }

  /// Whether the relay has sent `welcome` and the connection is believed to be alive.
  public var isLive: Bool {
    if case .live = phase { true } else { false }
  }

  /// Whether the session has ended for good.
  public var hasEnded: Bool { phase == .ended }

  /// The number of lines that are not acknowledged.
  public var unacknowledged: Int { outbox.count }

  // MARK: Connection life cycle

  /// Connects for the first time.
  public mutating func start(at now: Instant, _ actions: inout [Action]) {
    precondition(phase == .idle, "the session has already been started")
    connect(at: now, &actions)
  }

  /// Records that bytes of any kind have arrived.
  public mutating func heard(at now: Instant) {
    heardAt = now
    pingedAt = nil
  }

  /// Handles the end of the connection, or a failed attempt.
  public mutating func disconnected(
    _ error: ClientError, at now: Instant, _ actions: inout [Action]
  ) {
    var error = error
    switch phase {
    case .leaving:
      return end(.closedByClient, &actions)
    case .live(let since):
      if now.milliseconds(since: since) >= settings.goodAfterMilliseconds { backoff.reset() }
    case .connecting: break
    case .idle, .waiting, .unauthenticated, .ended: return
    }
    if let parting {
      // The error message before the close says more than the close reason has room for.
      switch error {
      case .notAuthenticated: error = .notAuthenticated(reason: parting)
      case .forbidden: error = .forbidden(reason: parting)
      default: break
      }
    }
    for index in subscriptions.indices { subscriptions[index].connectionLost() }
    outbox.connectionLost()
    if case .notAuthenticated(let reason) = error, settings.renewsTokens, !hasAskedForToken {
      hasAskedForToken = true
      phase = .unauthenticated
      forgetConnection()
      actions.append(.event(.tokenWanted(refused: reason)))
      return
    }
    guard !error.isFinal else { return end(error, &actions) }

    let wait: Int
    if let told = reconnectAfterMilliseconds {
      wait = told
    } else {
      wait = backoff.nextMilliseconds(using: &random)
    }
    phase = .waiting(until: now.adding(milliseconds: wait))
    forgetConnection()
    actions.append(.event(.disconnected(error, retryMilliseconds: wait)))
  }

  /// Ends the session; unacknowledged lines stay unacknowledged.
  public mutating func close(at now: Instant, _ actions: inout [Action]) {
    switch phase {
    case .live:
      for index in subscriptions.indices { sendMarks(of: index, at: now, &actions) }
      phase = .leaving(until: now.adding(milliseconds: settings.closeTimeoutMilliseconds))
      actions.append(.close)
    case .connecting:
      actions.append(.abandon(.goingAway))
      end(.closedByClient, &actions)
    case .idle, .waiting, .unauthenticated: end(.closedByClient, &actions)
    case .leaving, .ended: break
    }
  }

  /// Connects now: drops a connection or an attempt, and ends the wait for the next one.
  public mutating func reconnect(at now: Instant, _ actions: inout [Action]) {
    switch phase {
    case .waiting: connect(at: now, &actions)
    case .connecting, .live:
      backoff.reset()
      reconnectAfterMilliseconds = 0
      actions.append(.abandon(.goingAway))
      disconnected(.reconnecting, at: now, &actions)
    case .idle, .unauthenticated, .leaving, .ended: break
    }
  }

  /// Uses another token from the next connection on; a live connection sends it now.
  public mutating func renew(_ token: String, at now: Instant, _ actions: inout [Action]) {
    switch phase {
    case .live: actions.append(.transmit(.auth(token: token)))
    case .unauthenticated: connect(at: now, &actions)
    case .idle, .waiting, .connecting, .leaving, .ended: break
    }
  }

  /// A tick that comes later than this after `deadline` tells that the process did not run: it was
  /// stopped, or had no processor.
  public static let pauseMilliseconds = 1000

  /// Moves what is awaited by the time in which the process did not run, in which nothing could be
  /// received, and by a moment more, in which what waits in the socket is read.
  private mutating func skipPause(until now: Instant) {
    guard let deadline, now.milliseconds(since: deadline) > Self.pauseMilliseconds else { return }
    let pause = now.milliseconds(since: deadline) + Self.pauseMilliseconds
    switch phase {
    case .connecting(let until): phase = .connecting(until: until.adding(milliseconds: pause))
    case .leaving(let until): phase = .leaving(until: until.adding(milliseconds: pause))
    case .live:
      pingedAt = pingedAt?.adding(milliseconds: pause)
      answeredAt = answeredAt.adding(milliseconds: pause)
    case .idle, .waiting, .unauthenticated, .ended: break
    }
  }

  /// Does what is due; call it at `deadline`. Harmless before.
  public mutating func tick(at now: Instant, _ actions: inout [Action]) {
    skipPause(until: now)
    switch phase {
    case .idle, .unauthenticated, .ended: break
    case .waiting(let until):
      if until <= now { connect(at: now, &actions) }
    case .connecting(let until):
      if until <= now {
        fail(.noWelcome(afterMilliseconds: settings.welcomeTimeoutMilliseconds), at: now, &actions)
      }
    case .live: tickLive(at: now, &actions)
    case .leaving(let until):
      if until <= now {
        actions.append(.abandon(.normal))
        end(.closedByClient, &actions)
      }
    }
  }

  /// When `tick` has something to do; may be too early, never too late.
  public var deadline: Instant? {
    switch phase {
    case .idle, .unauthenticated, .ended: return nil
    case .waiting(let until), .connecting(let until), .leaving(let until): return until
    case .live: break
    }
    var earliest =
      pingedAt?.adding(milliseconds: settings.pongTimeoutMilliseconds)
      ?? heardAt.adding(milliseconds: settings.pingAfterMilliseconds)
    if outbox.inFlight > 0 {
      earliest = min(
        earliest, answeredAt.adding(milliseconds: settings.acknowledgementTimeoutMilliseconds))
    }
    if let next = nextSend { earliest = min(earliest, next) }
    if let renewAt { earliest = min(earliest, renewAt) }
    for subscription in subscriptions {
      if let retry = subscription.retryAt { earliest = min(earliest, retry) }
      if let mark = markDeadline(of: subscription) { earliest = min(earliest, mark) }
    }
    return earliest
  }

  // MARK: Implementation

  private mutating func connect(at now: Instant, _ actions: inout [Action]) {
    phase = .connecting(until: now.adding(milliseconds: settings.welcomeTimeoutMilliseconds))
    forgetConnection()
    actions.append(.connect)
  }

  private mutating func forgetConnection() {
    reconnectAfterMilliseconds = nil
    parting = nil
    renewAt = nil
    pingedAt = nil
    leaving = [:]
    isCongested = false
  }

  private mutating func end(_ error: ClientError, _ actions: inout [Action]) {
    phase = .ended
    actions.append(.event(.ended(error)))
  }

  /// Abandons the connection.
  mutating func fail(_ error: ClientError, at now: Instant, _ actions: inout [Action]) {
    actions.append(.abandon(.policyViolation))
    disconnected(error, at: now, &actions)
  }

  private mutating func tickLive(at now: Instant, _ actions: inout [Action]) {
    if let pingedAt {
      if now.milliseconds(since: pingedAt) >= settings.pongTimeoutMilliseconds {
        let silence = settings.pingAfterMilliseconds + settings.pongTimeoutMilliseconds
        return fail(.silent(milliseconds: silence), at: now, &actions)
      }
    } else if now.milliseconds(since: heardAt) >= settings.pingAfterMilliseconds {
      pingedAt = now
      actions.append(.ping)
    }
    let patience = settings.acknowledgementTimeoutMilliseconds
    if outbox.inFlight > 0, now.milliseconds(since: answeredAt) >= patience {
      return fail(.unacknowledged(milliseconds: patience), at: now, &actions)
    }
    if let due = renewAt, due <= now {
      renewAt = nil
      actions.append(.event(.tokenWanted(refused: nil)))
    }
    for index in subscriptions.indices {
      if let retry = subscriptions[index].retryAt, retry <= now {
        actions.append(.transmit(subscriptions[index].ask()))
      }
      if let mark = markDeadline(of: subscriptions[index]), mark <= now {
        sendMarks(of: index, at: now, &actions)
      }
    }
    pump(at: now, &actions)
  }
}
