internal import CLinux
internal import Glibc
public import Platform

/// A listener on a loop that handles a shortage of descriptors.
///
/// On `EMFILE` the client stays in the kernel's queue, so the listener stays readable and the loop
/// would spin. Instead the listener is paused for 100 ms. Clients do not notice if descriptors are
/// available by then. If not, waiting clients are rejected, using a spare descriptor: a closed
/// connection tells them to try elsewhere, an unanswered one does not.
///
/// Confined to its loop's thread. Forward the events and timers that carry its token.
public final class Acceptor {
  /// How long the listener is paused.
  public static let pauseMilliseconds = 100
  /// How many clients are accepted or rejected in one turn at most, so that other connections get
  /// their turn.
  public static let clientsPerTurn = 64

  private var listener: Listener
  private let loop: EventLoop
  private let token: UInt64
  private let report: (SystemError) -> Void
  private var registration: Registration?
  private var state = State()

  private struct State {
    var spare: Int32 = -1
    var pause: TimerID?
    /// Whether the shortage continues: no client could be accepted since the first pause.
    var isStarved = false
    var turnedAway = 0
  }

  /// Registers the listener.
  ///
  /// - Parameters:
  ///   - token: the token of its events and of its timer.
  ///   - report: called once when a shortage begins, for the log.
  public init(
    _ listener: consuming Listener, on loop: EventLoop, token: UInt64,
    report: @escaping (SystemError) -> Void
  ) throws(SystemError) {
    self.listener = listener
    self.loop = loop
    self.token = token
    self.report = report
    registration = try loop.register(self.listener.descriptor, for: .readable, token: token)
    state.spare = clinux_spare_descriptor()
  }

  deinit {
    if state.spare >= 0 { Glibc.close(state.spare) }
  }

  /// The address that it listens on.
  public var address: Address { listener.address }

  /// See `Listener.leavePath`.
  public func leavePath() { listener.leavePath() }

  /// Whether it is paused for lack of descriptors.
  public var isPaused: Bool { state.pause != nil }

  /// The number of rejected clients.
  public var turnedAway: Int { state.turnedAway }

  /// Accepts waiting clients when the listener is readable. Throws if the listener is broken.
  public func accept(
    _ body: (consuming Socket, Address) -> Void
  ) throws(SystemError) {
    for _ in 0..<Self.clientsPerTurn {
      switch listener.accept() {
      case .socket(let socket, let peer):
        state.isStarved = false
        // Another thread took the number while clients were rejected. The spare is restored before
        // the next free number is used: without it, waiting clients could not be rejected in a
        // shortage.
        if state.spare < 0 { state.spare = clinux_spare_descriptor() }
        guard state.spare >= 0 else {
          socket.abort()
          state.turnedAway += 1
          state.spare = clinux_spare_descriptor()
          continue
        }
        body(socket, peer)
        // `body` may have closed this listener.
        if registration == nil { return }
      case .wouldBlock: return
      case .exhausted(let error):
        if state.isStarved { reject() }
        try pause(error)
        return
      case .failed(let error): throw error
      }
    }
  }

  /// Resumes listening after a pause: the timer with this token has fired.
  public func timerFired() throws(SystemError) {
    state.pause = nil
    if let registration { try loop.change(registration, for: .readable) }
  }

  /// Deregisters from the loop; the listener itself is closed when this object is deinitialized.
  public func close() {
    if let registration { loop.deregister(registration) }
    if let pause = state.pause { loop.cancel(pause) }
    registration = nil
    state.pause = nil
  }

  private func pause(_ error: SystemError) throws(SystemError) {
    guard let registration else { return }
    if !state.isStarved { report(error) }
    state.isStarved = true
    try loop.change(registration, for: [])
    state.pause = loop.schedule(afterMilliseconds: Self.pauseMilliseconds, token: token)
  }

  private func reject() {
    // Another thread may have taken it the last time.
    if state.spare < 0 { state.spare = clinux_spare_descriptor() }
    if state.spare < 0 { return }
    for _ in 0..<Self.clientsPerTurn {
      // Another thread may take the number that is briefly free: then this is retried later.
      Glibc.close(state.spare)
      let result = listener.accept()
      if case .socket(let socket, _) = consume result {
        socket.abort()
        state.turnedAway += 1
        state.spare = clinux_spare_descriptor()
        if state.spare < 0 { return }
      } else {
        state.spare = clinux_spare_descriptor()
        return
      }
    }
  }
}
