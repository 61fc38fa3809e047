internal import CLinux
internal import Glibc
public import Platform

/// An epoll(7) event loop of one thread: waits for descriptors and timers, and calls a handler.
///
/// Confined to the thread that runs it; other threads use `control`, or a `Mailbox` whose
/// descriptor is registered here. A turn consists of: wait, events, due timers, `beforeSleep`.
@safe public final class EventLoop {
  /// The operations for other threads.
  public let control: LoopControl

  private var state: State
  private let events: UnsafeMutableBufferPointer<epoll_event>

  /// The maximum number of events per turn; 12 bytes each.
  private static let eventsPerTurn = 1024
  /// Never the key of a registration: `State` stays far below 2^32 slots.
  private static let controlKey = UInt64.max

  /// Creates a loop without registrations.
  public init() throws(SystemError) {
    let control = try LoopControl()
    let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    if epoll < 0 { throw SystemError.last("epoll_create1") }
    // Edge-triggered: every write to an eventfd is an edge, so it never has to be read.
    let code = clinux_epoll_control(
      epoll, EPOLL_CTL_ADD, control.descriptor, EPOLLIN.rawValue | EPOLLET.rawValue,
      Self.controlKey)
    guard code == 0 else {
      let error = SystemError.last("epoll_ctl")
      close(epoll)
      throw error
    }
    self.control = control
    state = State(epoll: epoll, now: Instant.now())
    unsafe events = UnsafeMutableBufferPointer.allocate(capacity: Self.eventsPerTurn)
  }

  deinit {
    unsafe events.deallocate()
    close(state.epoll)
  }

  /// The time at which this turn's events were fetched; read once per turn.
  public var now: Instant { state.now }

  /// The number of turns so far.
  public var turns: UInt64 { state.turns }

  /// The number of registered descriptors.
  public var registrationCount: Int { state.registrations.count }

  /// The number of pending timers.
  public var timerCount: Int { state.timers.count }

  // MARK: Descriptors

  /// Registers a descriptor, which stays owned by the caller.
  ///
  /// A descriptor whose both directions have ended (`EPOLLHUP`, `EPOLLERR`) is reported regardless
  /// of the interest, but only once unless the interest includes reading: the kernel would
  /// otherwise report it in every turn. After reading the end, remove `readable` or deregister.
  ///
  /// - Parameter token: passed back with every event.
  public func register(
    _ descriptor: Int32, for interest: Interest, token: UInt64
  ) throws(SystemError) -> Registration {
    try state.register(descriptor, for: interest, token: token)
  }

  /// Replaces the interest of a live registration; the empty set pauses it.
  public func change(_ registration: Registration, for interest: Interest) throws(SystemError) {
    try state.change(registration, for: interest)
  }

  /// Ends a registration and drops its pending events. Must be called before the descriptor is
  /// closed, since a closed number may be reused.
  public func deregister(_ registration: Registration) {
    state.deregister(registration)
  }

  // MARK: Timers

  /// Calls `timerFired` once, in the first turn at or after `deadline`.
  @discardableResult
  public func schedule(at deadline: Instant, token: UInt64) -> TimerID {
    state.timers.schedule(at: deadline, token: token)
  }

  /// Calls `timerFired` once, this long after the turn's `now`.
  @discardableResult
  public func schedule(afterMilliseconds milliseconds: Int, token: UInt64) -> TimerID {
    state.timers.schedule(at: state.now.adding(milliseconds: milliseconds), token: token)
  }

  /// Moves a timer. Moving it to a later time, the frequent case, only costs a store.
  ///
  /// - Returns: false if the timer has fired or was cancelled.
  @discardableResult
  public func reschedule(_ timer: TimerID, at deadline: Instant) -> Bool {
    state.timers.reschedule(timer, at: deadline)
  }

  /// Cancels a timer, if it has not fired yet.
  public func cancel(_ timer: TimerID) {
    state.timers.cancel(timer)
  }

  // MARK: Running

  /// Takes turns until `stop()`; the last one also ends with `beforeSleep`.
  public func run(_ handler: some EventHandler) {
    precondition(!state.isRunning, "run was called from within a turn")
    state.isRunning = true
    while !control.isStopping { turn(handler, maySleep: true) }
    state.isRunning = false
  }

  /// Takes one turn without waiting: for callers with their own loop, and for tests.
  public func runOnce(_ handler: some EventHandler) {
    precondition(!state.isRunning, "runOnce was called from within a turn")
    state.isRunning = true
    turn(handler, maySleep: false)
    state.isRunning = false
  }

  /// Ends `run` at the end of this turn. From other threads: `control.stop()`.
  public func stop() {
    control.stop()
  }

  /// Requests more work than the turn's share. Within `beforeSleep`: calls it a second time; in
  /// that second call, or elsewhere: the loop does not wait before its next turn.
  public func runAgain() {
    state.againRequested = true
  }

  private func turn(_ handler: some EventHandler, maySleep: Bool) {
    let timeout = maySleep ? state.sleepNanoseconds() : 0
    let count = unsafe clinux_epoll_wait(
      state.epoll, events.baseAddress, Int32(Self.eventsPerTurn), timeout)
    precondition(count >= 0 || errno == EINTR, "epoll_wait rejected the loop's own descriptor")
    state.beginTurn(at: Instant.now())

    for index in 0..<Int(max(0, count)) {
      let (key, bits) = unsafe (events[index].data.u64, events[index].events)
      if key == Self.controlKey { continue }
      let registration = Registration(key: key)
      // Deregistered since the events were fetched, possibly by the handler in this turn.
      guard let token = state.token(of: registration) else { continue }
      handler.ready(registration, token: token, Readiness(epoll: bits))
      if bits & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 {
        state.quieten(registration)
      }
    }

    let mark = state.timers.mark
    while let (timer, token) = state.timers.popDue(at: state.now, before: mark) {
      handler.timerFired(timer, token: token)
    }

    state.againRequested = false
    handler.beforeSleep()
    if state.againRequested {
      state.againRequested = false
      handler.beforeSleep()
    }
  }
}

extension EventLoop {
  /// The mutable state of the loop: one struct, so that a call needs one exclusivity check.
  private struct State {
    let epoll: Int32
    var registrations = RegistrationTable()
    var timers = TimerQueue()
    var now: Instant
    var turns: UInt64 = 0
    var isRunning = false
    var againRequested = false

    init(epoll: Int32, now: Instant) {
      self.epoll = epoll
      self.now = now
    }

    mutating func beginTurn(at now: Instant) {
      self.now = now
      turns += 1
    }

    /// The timeout for epoll: negative = none.
    func sleepNanoseconds() -> Int64 {
      if againRequested { return 0 }
      guard let deadline = timers.nextDeadline else { return -1 }
      return Int64(min(deadline.nanoseconds(since: Instant.now()), UInt64(Int64.max)))
    }

    func token(of registration: Registration) -> UInt64? { registrations[registration]?.token }

    mutating func register(
      _ descriptor: Int32, for interest: Interest, token: UInt64
    ) throws(SystemError) -> Registration {
      let registration = registrations.insert(descriptor, interest: interest, token: token)
      let code = clinux_epoll_control(
        epoll, EPOLL_CTL_ADD, descriptor, interest.epoll, registration.key)
      guard code == 0 else {
        let error = SystemError.last("epoll_ctl add \(descriptor)")
        registrations.remove(registration)
        throw error
      }
      return registration
    }

    mutating func change(
      _ registration: Registration, for interest: Interest
    ) throws(SystemError) {
      guard let slot = registrations[registration] else {
        preconditionFailure("this registration has ended")
      }
      if slot.interest == interest { return }
      let staysQuiet = slot.isQuiet && !interest.contains(.readable)
      if !staysQuiet {
        let code = clinux_epoll_control(
          epoll, slot.isQuiet ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, slot.descriptor, interest.epoll,
          registration.key)
        if code != 0 { throw SystemError.last("epoll_ctl change \(slot.descriptor)") }
      }
      registrations.update(registration, interest: interest, isQuiet: staysQuiet)
    }

    mutating func deregister(_ registration: Registration) {
      guard let slot = registrations[registration] else {
        preconditionFailure("this registration has ended")
      }
      if !slot.isQuiet {
        let code = clinux_epoll_control(epoll, EPOLL_CTL_DEL, slot.descriptor, 0, 0)
        precondition(code == 0, "descriptor \(slot.descriptor) was closed before deregister")
      }
      registrations.remove(registration)
    }

    /// Deregisters a descriptor from epoll after its end was reported. The kernel would report it
    /// again in every turn, which only a reader needs: it reads the remaining data.
    mutating func quieten(_ registration: Registration) {
      guard let slot = registrations[registration], !slot.isQuiet,
        slot.interest.isDisjoint(with: [.readable, .edgeTriggered])
      else { return }
      let code = clinux_epoll_control(epoll, EPOLL_CTL_DEL, slot.descriptor, 0, 0)
      precondition(code == 0, "descriptor \(slot.descriptor) was closed before deregister")
      registrations.update(registration, interest: slot.interest, isQuiet: true)
    }
  }
}

extension Interest {
  /// The bits of epoll_event. Only readers request the peer's end of sending: the others would be
  /// notified in every turn of an event that they do not want yet.
  fileprivate var epoll: UInt32 {
    var bits: UInt32 = 0
    if contains(.readable) { bits |= EPOLLIN.rawValue | EPOLLRDHUP.rawValue }
    if contains(.writable) { bits |= EPOLLOUT.rawValue }
    if contains(.edgeTriggered) { bits |= EPOLLET.rawValue }
    return bits
  }
}

extension Readiness {
  fileprivate init(epoll bits: UInt32) {
    self = []
    if bits & EPOLLIN.rawValue != 0 { insert(.readable) }
    if bits & EPOLLOUT.rawValue != 0 { insert(.writable) }
    if bits & (EPOLLRDHUP.rawValue | EPOLLHUP.rawValue) != 0 { insert(.closed) }
    if bits & EPOLLERR.rawValue != 0 { insert(.failed) }
  }
}
