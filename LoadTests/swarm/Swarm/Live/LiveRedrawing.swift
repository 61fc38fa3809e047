internal import EventLoop
internal import Glibc
internal import Platform

/// Redraws a display when the process continues after a stop (SIGCONT): the terminal may have
/// another size and other content.
final class LiveRedrawing {
  private let display: LiveDisplay
  private let loop: EventLoop
  private let source: SignalSource
  private let registration: Registration

  /// - Parameter token: The loop's token of the signal descriptor.
  init(of display: LiveDisplay, on loop: EventLoop, token: UInt64) throws {
    self.display = display
    self.loop = loop
    source = try SignalSource([SIGCONT])
    registration = try loop.register(source.descriptor, for: .readable, token: token)
  }

  func take() { while source.next() != nil { display.wasContinued() } }

  func end() { loop.deregister(registration) }
}
