import EventLoop
import Gateway
import Logging
import Platform
import Relay

/// Runs one `ConnectionLoop` on a thread, and passes it the events of sockets, timers and the
/// mailbox.
final class SocketLoop: EventHandler {
  enum Token {
    static let mailbox = UInt64.max
    static let acceptor = UInt64.max - 1
    static let sweep = UInt64.max - 2
    static let wake = UInt64.max - 3
    static let operators = UInt64.max - 4
  }

  let loop: EventLoop
  let world: SocketWorld
  let connections: ConnectionLoop
  var logger: Logger { world.shared.logger }
  private let mailbox: Mailbox<LoopMessage>
  private var mail: [LoopMessage] = []
  private var wake: (id: TimerID, at: Int64)?
  /// A buffer for unread input of rejected clients, which is discarded; allocated for the first
  /// one.
  lazy var unread = [UInt8](repeating: 0, count: ConnectionLoop.readBytes)

  private init(
    _ index: Int, _ context: ConnectionLoop.Context, _ shared: SocketWorld.Shared, seed: UInt64
  ) throws(SystemError) {
    loop = try EventLoop()
    world = SocketWorld(index: index, shared: shared, loop: loop)
    connections = ConnectionLoop(index: index, context: context, world: world, seed: seed)
    mailbox = shared.mailboxes[index]
    _ = try loop.register(mailbox.descriptor, for: .readable, token: Token.mailbox)
    loop.schedule(afterMilliseconds: ConnectionLoop.sweepMilliseconds, token: Token.sweep)
  }

  /// Starts a loop on its own thread; returns when it accepts clients.
  static func start(
    _ index: Int, _ context: ConnectionLoop.Context, _ shared: SocketWorld.Shared,
    _ listener: consuming sending Listener, operators: consuming sending Listener? = nil
  ) throws(SystemError) -> WorkerThread {
    let started = try Mailbox<SystemError?>()
    let listener = Handover(listener)
    let operators = Handover(operators)
    let thread = try WorkerThread(name: "loop-\(index)") {
      do throws(SystemError) {
        var random = SystemRandomNumberGenerator()
        let loop = try SocketLoop(index, context, shared, seed: random.next())
        if let listener = listener.take() { try loop.listen(listener) }
        if let held = operators.take(), let operators = held {
          try loop.listen(forOperators: operators)
        }
        started.post(nil)
        loop.loop.run(loop)
      } catch {
        started.post(error)
      }
    }
    _ = started.wait(timeoutMilliseconds: -1)
    var outcome: [SystemError?] = []
    started.drain(into: &outcome)
    if let error = outcome.first ?? nil { throw error }
    return thread
  }

  /// Starts to accept clients.
  private func listen(_ listener: consuming Listener) throws(SystemError) {
    let logger = logger
    world.acceptor = try Acceptor(listener, on: loop, token: Token.acceptor) { error in
      logger.warning(
        "The relay is out of file descriptors: new connections wait. Raise the limit with ulimit -n.",
        metadata: ["error": "\(error)"])
    }
  }

  /// Starts to accept programs of operators, on a Unix socket.
  private func listen(forOperators listener: consuming Listener) throws(SystemError) {
    let logger = logger
    world.operatorAcceptor = try Acceptor(listener, on: loop, token: Token.operators) { error in
      logger.warning(
        "The relay is out of file descriptors: programs of operators wait. Raise the limit with ulimit -n.",
        metadata: ["error": "\(error)"])
    }
  }

  // MARK: - EventHandler

  func ready(_ registration: Registration, token: UInt64, _ readiness: Readiness) {
    switch token {
    case Token.mailbox:
      mailbox.drain(into: &mail)
      connections.take(mail)
      mail.removeAll(keepingCapacity: true)
    case Token.acceptor: accept()
    case Token.operators: acceptOperators()
    default: connections.ready(Int(token), StreamReadiness(rawValue: readiness.rawValue))
    }
  }

  func timerFired(_ timer: TimerID, token: UInt64) {
    switch token {
    case Token.acceptor:
      do { try world.acceptor?.timerFired() } catch {
        logger.critical(
          "The relay cannot listen any more. Restart it.", metadata: ["error": "\(error)"])
      }
    case Token.operators:
      do { try world.operatorAcceptor?.timerFired() } catch {
        logger.error(
          "The operator's socket has failed. Restart the relay to use it again.",
          metadata: ["error": "\(error)"])
      }
    case Token.sweep:
      world.shared.heartbeats[world.index].beat(at: loop.now)
      connections.sweep()
      loop.schedule(afterMilliseconds: ConnectionLoop.sweepMilliseconds, token: Token.sweep)
    default: wake = nil
    }
  }

  func beforeSleep() {
    switch connections.endTurn() {
    case .atRest: break
    case .goesOn: loop.runAgain()
    case .over: loop.stop()
    }
    scheduleWake()
  }

  private func scheduleWake() {
    guard let at = connections.nextWake else { return }
    if let wake, wake.at <= at { return }
    if let wake { loop.cancel(wake.id) }
    wake = (loop.schedule(at: Instant(nanoseconds: UInt64(at) * 1000), token: Token.wake), at)
  }
}
