import Terminal

/// Scrolling: a place is a line of a message's block, and the pane ends with it. Only what is near
/// it is laid out.
extension Chat {
  /// Moves what is seen of the conversation: up where negative. At the end it follows the newest.
  /// - Returns: whether the first loaded line is in sight, so that older ones may be asked for.
  public mutating func scroll(byLines lines: Int) -> Bool {
    guard var viewport = viewport() else { return true }
    let bottom = viewport.bottom
    let target =
      lines < 0
      ? viewport.lowest(viewport.up(from: bottom, by: -lines))
      : viewport.down(from: bottom, by: lines)
    settle(at: target, &viewport)
    return viewport.showsFirst(above: target)
  }

  /// Scrolls as little as needed to have a message in sight, from its first line if it is long.
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
      settle(at: viewport.down(from: first, by: viewport.rows - 1), &viewport)
    } else if last > bottom {
      settle(at: last, &viewport)
    }
  }

  /// Whether the last line is in sight.
  public var isAtNewest: Bool {
    guard timeline?.scroll != .newest, var viewport = viewport() else { return true }
    return viewport.isLast(viewport.bottom)
  }

  private mutating func settle(at place: Viewport.Place, _ viewport: inout Viewport) {
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

  /// What is seen of the conversation; `nil` where nothing is.
  private func viewport() -> Viewport? { viewport(in: layout.messages, .plain) }

  /// The same for who knows where the messages are.
  func viewport(in pane: Rect, _ theme: Theme) -> Viewport? {
    guard let timeline, !timeline.messages.isEmpty else { return nil }
    // Where the pane is not shown, as if it were small: scrolling goes on to make sense.
    let layout = MessageLayout(self, timeline, theme, columns: max(1, pane.columns))
    return Viewport(layout, rows: max(1, pane.rows))
  }
}

/// The part of the timeline that is seen.
struct Viewport {
  /// A line of a block, from its first.
  struct Place: Comparable {
    var index: Int
    var line: Int

    static func < (a: Place, b: Place) -> Bool { (a.index, a.line) < (b.index, b.line) }
  }

  let layout: MessageLayout
  let rows: Int
  private(set) var bottom = Place(index: 0, line: 0)
  private var blocks: [Int: MessageBlock] = [:]

  init(_ layout: MessageLayout, rows: Int) {
    self.layout = layout
    self.rows = rows
    bottom = lowest(anchor())
  }

  private var last: Int { layout.timeline.messages.count - 1 }

  mutating func block(_ index: Int) -> MessageBlock {
    if let block = blocks[index] { return block }
    let block = layout.block(index)
    blocks[index] = block
    return block
  }

  /// The line that stands at the lower edge. Where its message is gone, a near one's.
  private mutating func anchor() -> Place {
    var index = last
    if case .at(let key, let line) = layout.timeline.scroll {
      let timeline = layout.timeline
      if let found = timeline.index(of: key, near: timeline.hint.index) {
        let block = block(found)
        return Place(index: found, line: min(max(0, block.above + line), block.lines.count - 1))
      }
      index = min(max(0, timeline.hint.index), last)
    }
    return Place(index: index, line: block(index).lines.count - 1)
  }

  mutating func up(from place: Place, by lines: Int) -> Place {
    var (place, left) = (place, lines)
    while left > place.line {
      guard place.index > 0 else { return Place(index: 0, line: 0) }
      left -= place.line + 1
      place = Place(index: place.index - 1, line: block(place.index - 1).lines.count - 1)
    }
    place.line -= left
    return place
  }

  mutating func down(from place: Place, by lines: Int) -> Place {
    var (place, left) = (place, lines)
    while true {
      let end = block(place.index).lines.count - 1
      if left <= end - place.line {
        place.line += left
        return place
      }
      guard place.index < last else { return Place(index: last, line: end) }
      left -= end - place.line + 1
      place = Place(index: place.index + 1, line: 0)
    }
  }

  /// The place, or the one below it that fills the pane from its top.
  mutating func lowest(_ place: Place) -> Place {
    let above = linesAbove(place)
    return above < rows - 1 ? down(from: place, by: rows - 1 - above) : place
  }

  mutating func isLast(_ place: Place) -> Bool {
    place.index == last && place.line == block(last).lines.count - 1
  }

  /// Whether the first line is seen where the pane ends with a place.
  mutating func showsFirst(above place: Place) -> Bool { linesAbove(place) < rows }

  /// Lines before a place, as far as the pane has room for them.
  private mutating func linesAbove(_ place: Place) -> Int {
    var (lines, index) = (place.line, place.index)
    while lines < rows, index > 0 {
      index -= 1
      lines += block(index).lines.count
    }
    return lines
  }

  /// What is seen, from the lower edge upwards, at most as many as there are rows.
  mutating func seen() -> [(place: Place, line: Line)] {
    var seen: [(place: Place, line: Line)] = []
    var place = bottom
    while seen.count < rows {
      let lines = block(place.index).lines
      while place.line >= 0, seen.count < rows {
        seen.append((place, lines[place.line]))
        place.line -= 1
      }
      guard place.index > 0 else { break }
      place = Place(index: place.index - 1, line: block(place.index - 1).lines.count - 1)
    }
    return seen
  }
}

extension Timeline {
  /// Where a message is, looked for from a place on, to both sides: it is near mostly.
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
