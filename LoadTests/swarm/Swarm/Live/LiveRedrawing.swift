internal import EventLoop
internal import Glibc
internal import Platform

/// Has a display drawn again once its process goes on after a stop (SIGCONT): the terminal may have
/// another size by then, and other lines on it.
final class LiveRedrawing {
  private let display: LiveDisplay
  private let loop: EventLoop
  private let source: SignalSource
  private let registration: Registration

  /// - Parameter token: by which the loop says that there is something to take.
  init(of display: LiveDisplay, on loop: EventLoop, token: UInt64) throws {
    self.display = display
    self.loop = loop
    source = try SignalSource([SIGCONT])
    registration = try loop.register(source.descriptor, for: .readable, token: token)
  }

  func take() { while source.next() != nil { display.wasContinued() } }

  func end() { loop.deregister(registration) }
}
