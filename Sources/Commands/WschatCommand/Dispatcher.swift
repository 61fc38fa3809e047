import Client
import EventLoop
import Platform

/// Passes the events of a loop to the parts of the program: each `Watch` and each `Alarm` has a token
/// and code of its own.
final class Dispatcher: EventHandler {
  let loop: EventLoop
  let clients: ClientLoop
  /// Called at the end of each turn, before the output of the clients is sent.
  var endTurn: () -> Void = {}
  fileprivate var isRunning = false
  /// By token.
  private var handlers: [((Readiness) -> Void)?] = []

  init() throws(SystemError) {
    loop = try EventLoop()
    clients = try ClientLoop(loop)
  }

  /// Passes events on until the loop is stopped.
  func run() {
    isRunning = true
    loop.run(self)
    isRunning = false
  }

  fileprivate func insert(_ handler: @escaping (Readiness) -> Void) -> UInt64 {
    handlers.append(handler)
    return UInt64(handlers.count - 1)
  }

  fileprivate func remove(_ token: UInt64) { handlers[Int(token)] = nil }

  func ready(_ registration: Registration, token: UInt64, _ readiness: Readiness) {
    if token & ClientLoop.tokenBit == 0 {
      handlers[Int(token)]?(readiness)
    } else {
      clients.ready(registration, token: token, readiness)
    }
  }

  func timerFired(_ timer: TimerID, token: UInt64) {
    if token & ClientLoop.tokenBit == 0 {
      handlers[Int(token)]?([])
    } else {
      clients.timerFired(timer, token: token)
    }
  }

  func beforeSleep() {
    endTurn()
    clients.beforeSleep()
  }
}

/// A descriptor that is watched until this object is released. While the dispatcher runs, it must be
/// released before the descriptor is closed.
final class Watch {
  private let dispatcher: Dispatcher
  private let token: UInt64
  private let registration: Registration

  init(
    _ descriptor: Int32, for interest: Interest = .readable, on dispatcher: Dispatcher,
    _ handle: @escaping (Readiness) -> Void
  ) throws(SystemError) {
    self.dispatcher = dispatcher
    token = dispatcher.insert(handle)
    do throws(SystemError) {
      registration = try dispatcher.loop.register(descriptor, for: interest, token: token)
    } catch {
      dispatcher.remove(token)
      throw error
    }
  }

  deinit {
    guard dispatcher.isRunning else { return }
    dispatcher.loop.deregister(registration)
    dispatcher.remove(token)
  }

  func change(for interest: Interest) throws(SystemError) {
    try dispatcher.loop.change(registration, for: interest)
  }
}

/// Signals that are caught until `end`, which restores their default actions.
final class SignalWatch {
  private var source: SignalSource?
  private var watch: Watch?

  init(
    _ signals: [Int32], on dispatcher: Dispatcher, _ handle: @escaping (Int32) -> Void
  ) throws(SystemError) {
    let source = try SignalSource(signals)
    let descriptor = source.descriptor
    self.source = consume source
    watch = try Watch(descriptor, on: dispatcher) { [weak self] _ in
      while let signal = self?.source?.next() { handle(signal) }
    }
  }

  deinit { end() }

  func end() {
    watch = nil
    source = nil
  }
}

/// A timer with one purpose, which is set again and again.
final class Alarm {
  /// When it fires; `nil` if it is not set.
  private(set) var due: Instant?
  private let dispatcher: Dispatcher
  private var token: UInt64 = 0
  private var timer: TimerID?

  init(on dispatcher: Dispatcher, _ fire: @escaping () -> Void) {
    self.dispatcher = dispatcher
    token = dispatcher.insert { [unowned self] _ in
      (timer, due) = (nil, nil)
      fire()
    }
  }

  func set(at due: Instant) {
    self.due = due
    if let timer, dispatcher.loop.reschedule(timer, at: due) { return }
    timer = dispatcher.loop.schedule(at: due, token: token)
  }

  func set(afterMilliseconds milliseconds: Int) {
    set(at: dispatcher.loop.now.adding(milliseconds: milliseconds))
  }

  /// Sets it, unless it is set for an earlier time.
  func setEarliest(afterMilliseconds milliseconds: Int) {
    let at = dispatcher.loop.now.adding(milliseconds: milliseconds)
    if due.map({ at < $0 }) ?? true { set(at: at) }
  }

  func cancel() {
    if let timer { dispatcher.loop.cancel(timer) }
    (timer, due) = (nil, nil)
  }
}
