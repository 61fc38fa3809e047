/// Recognizes pastes of several lines from terminals that do not bracket them (the Linux console, GNU
/// screen 4): a line break and text after it that arrive at once were not typed. They become one event,
/// so that an Enter in them sends nothing.
///
/// Whether text follows an Enter at the end of several keys is known only later: it is held back
/// until then, or until `isEnd`.
struct PlainPaste: Sendable {
  /// The last key was an Enter after text.
  private var holdsEnter = false
  /// The last lines were a paste, which may go on.
  private var isPasting = false

  /// Whether more text would change the meaning of what came.
  var isWaiting: Bool { holdsEnter || isPasting }

  /// Returns the events, with lines that came together as pastes.
  /// - Parameter isEnd: Whether nothing has followed for a while.
  mutating func join(_ events: [InputEvent], isEnd: Bool) -> [InputEvent] {
    // A key of its own, also right after a paste.
    if events == [.key(Key(.enter))], !holdsEnter, !isEnd {
      isPasting = false
      return events
    }
    var joined: [InputEvent] = []
    var start = 0
    while start < events.count || (isEnd && holdsEnter) {
      let end = events[start...].firstIndex { Self.text(of: $0) == nil } ?? events.count
      join(events[start..<end], isLast: end == events.count && !isEnd, into: &joined)
      if end < events.count {
        joined.append(events[end])
        isPasting = false
      }
      start = min(end + 1, events.count)
    }
    if isEnd { isPasting = false }
    return joined
  }

  private mutating func join(
    _ run: ArraySlice<InputEvent>, isLast: Bool, into joined: inout [InputEvent]
  ) {
    let enter = InputEvent.key(Key(.enter))
    let held = holdsEnter ? [enter] : []
    holdsEnter = false
    let run = held + run
    guard !run.isEmpty else { return }
    let firstBreak = run.firstIndex { Self.isBreak($0) }
    let hasLines = firstBreak.map { run[$0...].contains { !Self.isBreak($0) } } ?? false
    if hasLines || isPasting {
      joined.append(.paste(Self.text(of: run)))
      isPasting = true
    } else if isLast, run.count > 1, run.last == enter {
      joined += run.dropLast()
      holdsEnter = true
    } else {
      joined += run
    }
  }

  private static func isBreak(_ event: InputEvent) -> Bool { text(of: event) == "\n" }

  private static func text(of run: [InputEvent]) -> String {
    var text = ""
    var last: InputEvent?
    for event in run {
      // CR LF.
      let isSecond = last == .key(Key(.enter)) && event == .key(Key(.character("j"), .control))
      if !isSecond, let character = self.text(of: event) { text.append(character) }
      last = event
    }
    return text
  }

  /// Returns the text of a key; nil for a key that is none.
  private static func text(of event: InputEvent) -> Character? {
    guard case .key(let key) = event else { return nil }
    switch (key.code, key.modifiers) {
    case (.enter, []), (.character("j"), .control): return "\n"
    case (.tab, []): return "\t"
    case (.character(let character), []): return character
    default: return nil
    }
  }
}
