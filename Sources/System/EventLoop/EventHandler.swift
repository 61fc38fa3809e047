/// What a loop calls, always on its own thread and never while another call is under way.
///
/// Within these calls everything of the loop may be used: also to deregister descriptors whose
/// events wait in the same turn, which are then dropped.
public protocol EventHandler: AnyObject {
  /// A registered descriptor can be read or written, or has come to its end.
  func ready(_ registration: Registration, token: UInt64, _ readiness: Readiness)

  /// A timer's time has come; its ID is dead from now on.
  func timerFired(_ timer: TimerID, token: UInt64)

  /// Once a turn, after all events and timers: commit and flush the turn's work here.
  ///
  /// It is called once more if it asks for that by `EventLoop.runAgain()`.
  func beforeSleep()
}
