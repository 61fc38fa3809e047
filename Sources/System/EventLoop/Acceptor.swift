internal import CLinux
internal import Glibc
public import Platform

/// A listener on a loop that survives running out of descriptors.
///
/// On `EMFILE` the client stays in the kernel's queue, so the listener stays readable and the loop
/// would spin. Instead the listener is left alone for 100 ms. Clients do not notice if descriptors
/// are free again by then. If not, those that wait are turned away, by help of a descriptor
/// kept in reserve: a closed connection tells them to go elsewhere, a silent one does not.
///
/// Confined to its loop's thread. Forward the events and timers that carry its token.
public final class Acceptor {
  /// How long the listener is left alone.
  public static let pauseMilliseconds = 100
  /// So many clients are accepted, or turned away, in one turn at most: others want a turn, too.
  public static let clientsPerTurn = 64

  private let listener: Listener
  private let loop: EventLoop
  private let token: UInt64
  private let report: (SystemError) -> Void
  private var registration: Registration?
  private var state = State()

  private struct State {
    var spare: Int32 = -1
    var pause: TimerID?
    /// A shortage goes on: no client could be accepted since the first pause.
    var isStarved = false
    var turnedAway = 0
  }

  /// Registers the listener.
  ///
  /// - Parameters:
  ///   - token: of its events and of its timer.
  ///   - report: called when a shortage begins, once however long it lasts; for the log.
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

  /// Where it listens.
  public var address: Address { listener.address }

  /// Whether it waits for descriptors.
  public var isPaused: Bool { state.pause != nil }

  /// Clients turned away so far.
  public var turnedAway: Int { state.turnedAway }

  /// The listener is readable: hands on those who wait. Throws if the listener is broken.
  public func accept(
    _ body: (consuming Socket, Address) -> Void
  ) throws(SystemError) {
    for _ in 0..<Self.clientsPerTurn {
      switch listener.accept() {
      case .socket(let socket, let peer):
        state.isStarved = false
        // Lost to another thread while clients were turned away. Before anyone takes the next free
        // number it becomes the spare again: without one, those who wait in a shortage hear nothing.
        if state.spare < 0 { state.spare = clinux_spare_descriptor() }
        guard state.spare >= 0 else {
          socket.abort()
          state.turnedAway += 1
          state.spare = clinux_spare_descriptor()
          continue
        }
        body(socket, peer)
        // The body may have closed this listener.
        if registration == nil { return }
      case .wouldBlock: return
      case .exhausted(let error):
        if state.isStarved { turnAway() }
        try pause(error)
        return
      case .failed(let error): throw error
      }
    }
  }

  /// The timer with this token has fired: listens again.
  public func timerFired() throws(SystemError) {
    state.pause = nil
    if let registration { try loop.change(registration, for: .readable) }
  }

  /// Leaves the loop; the listener itself is closed when this object goes.
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

  private func turnAway() {
    // Lost to another thread the last time, perhaps.
    if state.spare < 0 { state.spare = clinux_spare_descriptor() }
    if state.spare < 0 { return }
    for _ in 0..<Self.clientsPerTurn {
      // Another thread may take the number that is free for a moment: then it is tried later.
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
