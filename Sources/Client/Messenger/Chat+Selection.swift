/// Selecting several messages, to copy them as one text.
extension Chat {
  /// The number of messages that are selected at once.
  static let selectionLimit = 1000

  /// The selected messages, in order: all between the anchor and the message that is selected.
  var selection: ArraySlice<Message> {
    guard let timeline, let here = timeline.selected.flatMap({ timeline.index(of: $0) }) else {
      return []
    }
    let anchor = timeline.anchor.flatMap { timeline.index(of: $0) } ?? here
    let start = max(min(anchor, here), here - Self.selectionLimit + 1)
    let end = min(max(anchor, here), here + Self.selectionLimit - 1)
    return timeline.messages[start...end]
  }

  /// Whether several messages are selected, or will be.
  var isSelecting: Bool { timeline?.anchor != nil }

  /// Moves the selected message, while the others up to the first selected one stay selected.
  mutating func extendSelection(_ offset: Int, _ effects: inout [Effect]) {
    guard let timeline, let selected = timeline.selected,
      let here = timeline.index(of: selected)
    else { return }
    if timeline.anchor == nil {
      self.timeline?.anchor = selected
      self.timeline?.isMarked = false
    }
    // The selection ends at the newest message; the composer is no part of it.
    guard here + offset < timeline.messages.count else { return }
    moveSelection(offset, &effects)
  }

  /// Ends it before the selected message moves, unless it was begun with a mark.
  mutating func endUnmarkedSelection() {
    if timeline?.isMarked == false { timeline?.anchor = nil }
  }

  /// Begins the selection of several messages at the selected one, or ends it.
  mutating func mark() {
    let anchor = isSelecting ? nil : timeline?.selected
    timeline?.anchor = anchor
    timeline?.isMarked = true
  }

  /// Copies the selected messages: one as its text, several with time and name.
  mutating func copy(_ message: Message, _ effects: inout [Effect]) {
    let selection = self.selection
    guard selection.count > 1 else { return effects.append(.copy(message.text)) }
    effects.append(.copy(text(of: selection), count: selection.count))
    timeline?.anchor = nil
  }

  /// Returns messages as text, as in an IRC log: each begins with its time and name, and further
  /// lines of it are indented.
  private func text(of messages: ArraySlice<Message>) -> String {
    var text = ""
    for message in messages {
      let time = localTime(message.at)
      let date = [(time.year, 4), (time.month, 2), (time.day, 2)].map { number, digits in
        let written = String(number)
        return String(repeating: "0", count: max(0, digits - written.count)) + written
      }
      let from = ShownText.line(name(of: message.from))
      let origin = message.forwardedFrom.map { ", from \(ShownText.line(name(of: $0)))" } ?? ""
      let content = message.isDeleted ? "(deleted)" : message.text
      text += "\(date.joined(separator: "-")) \(moment(message.at).clock)  "
      if message.hidden == nil { text += "\(from)\(origin): " }
      text += content.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        .joined(separator: "\n    ")
      text += "\n"
    }
    return text
  }
}
