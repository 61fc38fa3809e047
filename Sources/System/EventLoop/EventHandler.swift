/// The callbacks of a loop, always on its own thread and never nested.
///
/// They may use the loop without restriction: for example, they may deregister descriptors whose
/// events are pending in the same turn, which are then dropped.
public protocol EventHandler: AnyObject {
  /// A registered descriptor is readable or writable, or has reached its end.
  func ready(_ registration: Registration, token: UInt64, _ readiness: Readiness)

  /// A timer has fired; its ID is no longer valid.
  func timerFired(_ timer: TimerID, token: UInt64)

  /// Called once per turn, after all events and timers, to commit and flush the turn's work.
  ///
  /// It is called a second time if it requests that by `EventLoop.runAgain()`.
  func beforeSleep()
}
