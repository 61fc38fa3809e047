import EventLoop

/// A handler made of closures, which counts its events.
final class Recorder: EventHandler {
  var onReady: (Registration, UInt64, Readiness) -> Void = { _, _, _ in }
  var onTimer: (TimerID, UInt64) -> Void = { _, _ in }
  var onBeforeSleep: () -> Void = {}
  private(set) var events: [(token: UInt64, readiness: Readiness)] = []
  private(set) var timers: [UInt64] = []
  private(set) var sleeps = 0

  func ready(_ registration: Registration, token: UInt64, _ readiness: Readiness) {
    events.append((token, readiness))
    onReady(registration, token, readiness)
  }

  func timerFired(_ timer: TimerID, token: UInt64) {
    timers.append(token)
    onTimer(timer, token)
  }

  func beforeSleep() {
    sleeps += 1
    onBeforeSleep()
  }
}
