import Client
import EventLoop
import Glibc
import Messenger
import Platform
import Terminal

/// The events of the loop, by the tokens with which they were registered.
extension ScreenChat: EventHandler {
  func ready(_ registration: Registration, token: UInt64, _ readiness: Readiness) {
    switch token {
    case Token.terminal: readTerminal()
    case Token.signals:
      while let signal = signals.next() {
        switch signal {
        case SIGWINCH: resize()
        case SIGCONT: redraw()
        // Ctrl+C in an editor is the editor's.
        case SIGINT where editing != nil: break
        default: quit()
        }
      }
    case Token.stops:
      while stops?.next() != nil { suspend() }
    case Token.children: childEnded()
    case Token.renewal: takeToken()
    case Token.archive: archiveWasWritten()
    case Token.pictures: takePictures()
    default: clients.ready(registration, token: token, readiness)
    }
  }

  func timerFired(_ timer: TimerID, token: UInt64) {
    switch token {
    case Token.tick:
      tickTimer = nil
      LocalTime.followZone()
      take(.tick)
    case Token.frame: frameTimer = nil
    case Token.find: findOn()
    case Token.escape:
      escapeTimer = nil
      take(parser.timeout())
    case Token.renewalRetry: renewToken()
    case Token.sharing:
      share()
    case Token.flush:
      flushTimer = nil
      flushArchive()
    default: clients.timerFired(timer, token: token)
    }
  }

  func beforeSleep() {
    if exitCode == nil {
      draw()
      scheduleTick()
    }
    flushOutput()
    clients.beforeSleep()
  }
}
