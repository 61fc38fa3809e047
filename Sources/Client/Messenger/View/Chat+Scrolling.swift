import Terminal

/// Scrolling. The scroll position is a line of a message's block, which is at the bottom of the
/// pane. Only messages near it are laid out.
extension Chat {
  /// Scrolls the conversation, up if negative. At the end it follows the newest message.
  /// - Returns: Whether the first loaded line is visible, so that older messages should be
  ///   requested.
  public mutating func scroll(byLines lines: Int) -> Bool {
    guard var viewport = viewport() else { return true }
    let bottom = viewport.bottom
    let target =
      lines < 0
      ? viewport.lowest(viewport.up(from: bottom, by: -lines))
      : viewport.down(from: bottom, by: lines)
    scroll(at: target, &viewport)
    return viewport.showsFirst(above: target)
  }

  /// Scrolls as little as necessary to make a message visible, from its first line if it is long.
  public mutating func reveal(_ key: Message.Key) {
    guard var viewport = viewport(),
      let index = timeline?.index(of: key, near: viewport.bottom.index)
    else { return }
    let bottom = viewport.bottom
    let top = viewport.up(from: bottom, by: viewport.rows - 1)
    let block = viewport.block(index)
    let first = Viewport.Place(index: index, line: 0)
    let last = Viewport.Place(index: index, line: block.lines.count - 1)
    let isTall = block.lines.count > viewport.rows
    if first < top || (isTall && last > bottom) {
      scroll(at: viewport.down(from: first, by: viewport.rows - 1), &viewport)
    } else if last > bottom {
      scroll(at: last, &viewport)
    }
  }

  /// Whether the last line is visible.
  public var isAtNewest: Bool {
    guard timeline?.scroll != .newest, var viewport = viewport() else { return true }
    return viewport.isLast(viewport.bottom)
  }

  private mutating func scroll(at place: Viewport.Place, _ viewport: inout Viewport) {
    if viewport.isLast(place) {
      timeline?.scroll = .newest
      timeline?.newBelow = 0
    } else {
      let block = viewport.block(place.index)
      let key = viewport.layout.timeline.messages[place.index].key
      timeline?.scroll = .at(key, line: place.line - block.above)
      timeline?.hint.index = place.index
    }
  }

  /// The visible part of the conversation; `nil` if nothing is visible.
  private func viewport() -> Viewport? { viewport(in: layout.messages, .plain) }

  /// The same, for a caller that knows the pane of the messages.
  func viewport(in pane: Rect, _ theme: Theme) -> Viewport? {
    guard let timeline, !timeline.messages.isEmpty else { return nil }
    // A hidden pane is treated as a small one, so that scrolling keeps working.
    let layout = MessageLayout(self, timeline, theme, columns: max(1, pane.columns))
    return Viewport(layout, rows: max(1, pane.rows))
  }
}

extension Timeline {
  /// Finds a message by searching from a place to both sides, because it is usually near.
  func index(of key: Message.Key, near start: Int) -> Int? {
    guard !messages.isEmpty else { return nil }
    var before = min(max(0, start), messages.count - 1)
    var after = before + 1
    while before >= 0 || after < messages.count {
      if before >= 0 {
        if messages[before].key == key { return before }
        before -= 1
      }
      if after < messages.count {
        if messages[after].key == key { return after }
        after += 1
      }
    }
    return nil
  }
}
