import EventLoop
import Messenger
import Platform

/// Holds the chat: drivers post events to it, and it has the resulting effects performed, in order.
final class ChatHost {
  let dispatcher: Dispatcher
  var chat: Chat
  /// Performs an effect; what that posts is handled at once, and its effects are performed after those
  /// of the earlier events.
  var perform: (Effect) -> Void = { _ in }
  /// Whether the screen does not show the chat as it is.
  var isStale = true
  /// Whether that must be mended now, not with the next frame: a key was answered.
  var isUrgent = true
  /// Whether the program is ending.
  var isEnding = false
  private var effects: [Effect] = []
  private var isPerforming = false

  init(_ chat: Chat, on dispatcher: Dispatcher) {
    self.chat = chat
    self.dispatcher = dispatcher
  }

  func post(_ event: Event, isUrgent: Bool = false) {
    change { $0.handle(event, at: WallClock.milliseconds, &$1) }
    isStale = true
    if isUrgent { self.isUrgent = true }
  }

  /// Changes the chat in another way than by an event.
  func change(_ body: (inout Chat, inout [Effect]) -> Void) {
    batch { body(&chat, &effects) }
  }

  /// Performs the effects of what `body` does after it.
  func batch(_ body: () -> Void) {
    if isPerforming { return body() }
    isPerforming = true
    body()
    var next = 0
    while next < effects.count {
      let effect = effects[next]
      next += 1
      perform(effect)
    }
    effects.removeAll(keepingCapacity: true)
    isPerforming = false
  }

  /// Requests a frame at once.
  func redraw() {
    isStale = true
    isUrgent = true
  }
}
