/// The visible part of the timeline.
struct Viewport {
  /// A line of a block, counted from its first.
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

  /// Returns the line at the lower edge; if its message is gone, a line of a message near it.
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

  /// Returns the place, or one further down if otherwise the pane would not be full.
  mutating func lowest(_ place: Place) -> Place {
    let above = linesAbove(place)
    return above < rows - 1 ? down(from: place, by: rows - 1 - above) : place
  }

  mutating func isLast(_ place: Place) -> Bool {
    place.index == last && place.line == block(last).lines.count - 1
  }

  /// Whether the first line is visible if the pane ends at a place.
  mutating func showsFirst(above place: Place) -> Bool { linesAbove(place) < rows }

  /// Returns the number of lines before a place, counted up to the height of the pane.
  private mutating func linesAbove(_ place: Place) -> Int {
    var (lines, index) = (place.line, place.index)
    while lines < rows, index > 0 {
      index -= 1
      lines += block(index).lines.count
    }
    return lines
  }

  /// Returns the visible lines from the lower edge upwards, at most as many as there are rows.
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
