internal import Terminal

extension TextEditor {
  // MARK: Moves

  public mutating func moveLeft() { move(to: before(place) ?? place) }
  public mutating func moveRight() { move(to: after(place) ?? place) }
  public mutating func moveWordLeft() { move(to: wordStart) }
  public mutating func moveWordRight() { move(to: wordEnd) }
  public mutating func moveToLineStart() { move(to: Place(line: place.line, offset: 0)) }
  public mutating func moveToLineEnd() {
    move(to: Place(line: place.line, offset: lines[place.line].count))
  }

  /// Moves the cursor to a place, or to the nearest valid one.
  public mutating func move(to place: Place) {
    let line = min(max(0, place.line), lines.count - 1)
    set(Place(line: line, offset: min(max(0, place.offset), lines[line].count)))
    endVerticalMove()
  }

  // MARK: Deleting

  public mutating func deleteBackward() { delete(from: before(place) ?? place, to: place) }
  public mutating func deleteForward() { delete(from: place, to: after(place) ?? place) }

  /// Kills from the cursor back to the start of the word, or of the previous one.
  public mutating func deleteWord() { kill(from: wordStart, to: place) }

  /// Kills from the cursor back to the start of the line, or the line break before it.
  public mutating func deleteToLineStart() {
    let start = Place(line: place.line, offset: 0)
    kill(from: place == start ? before(place) ?? place : start, to: place)
  }

  /// Kills from the cursor to the end of the line, or the line break.
  public mutating func deleteToLineEnd() {
    let end = Place(line: place.line, offset: lines[place.line].count)
    kill(from: place, to: place == end ? after(place) ?? place : end)
  }

  /// Inserts the killed text at the cursor.
  public mutating func yank() throws(Full) { try insert(killed) }

  private mutating func delete(from start: Place, to end: Place) {
    if start < end { replace(start, end, with: "") }
    endVerticalMove()
  }

  private mutating func kill(from start: Place, to end: Place) {
    guard start < end else { return }
    let text = text(from: start, to: end)
    let isBackward = end == place
    if !isKilling { killed = "" }
    killed = isBackward ? text + killed : killed + text
    delete(from: start, to: end)
    isKilling = true
  }

  // MARK: Neighbouring places

  private func before(_ place: Place) -> Place? {
    if place.offset > 0 { return Place(line: place.line, offset: place.offset - 1) }
    guard place.line > 0 else { return nil }
    return Place(line: place.line - 1, offset: lines[place.line - 1].count)
  }

  private func after(_ place: Place) -> Place? {
    if place.offset < lines[place.line].count {
      return Place(line: place.line, offset: place.offset + 1)
    }
    return place.line + 1 < lines.count ? Place(line: place.line + 1, offset: 0) : nil
  }

  private func isWord(at place: Place) -> Bool {
    guard place.offset < lines[place.line].count else { return false }
    let character = lines[place.line][place.offset]
    return character.isLetter || character.isNumber || character == "_"
  }

  private var wordStart: Place {
    var place = place
    var isInside = false
    while let previous = before(place) {
      let isWord = isWord(at: previous)
      if isInside, !isWord { break }
      isInside = isWord
      place = previous
    }
    return place
  }

  private var wordEnd: Place {
    var place = place
    var isInside = false
    while let next = after(place) {
      let isWord = isWord(at: place)
      if isInside, !isWord { break }
      isInside = isWord
      place = next
    }
    return place
  }
}
