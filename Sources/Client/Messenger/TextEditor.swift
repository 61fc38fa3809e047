/// A text of several lines that is being written, with a cursor between its characters (grapheme
/// clusters).
///
/// What a keystroke costs depends on the length of its line by one move of memory, no more.
public struct TextEditor: Equatable, Sendable {
  /// Between two characters.
  public struct Place: Hashable, Comparable, Sendable {
    /// From 0.
    public var line: Int
    /// So many characters of the line stand before it.
    public var offset: Int

    public init(line: Int, offset: Int) {
      self.line = line
      self.offset = offset
    }

    public static func < (a: Place, b: Place) -> Bool {
      (a.line, a.offset) < (b.line, b.offset)
    }
  }

  /// What could not be done, since the text would grow beyond `capacityBytes`. Nothing is cut: the
  /// text is as it was.
  public struct Full: Error, Equatable, Sendable {
    /// What the text would have taken, in UTF-8.
    public var bytes: Int
    public var capacityBytes: Int
  }

  /// The characters of each line, without the line breaks; never empty.
  public internal(set) var lines: [[Character]] = [[]]
  /// All of it, lines separated by `\n`.
  public private(set) var text = ""
  /// Where the cursor is.
  public private(set) var place = Place(line: 0, offset: 0)
  /// Bytes of `text` before the cursor.
  private var byteOffset = 0
  /// What may be sent at once, in UTF-8; 0 for no limit. More can be written than that, and shortened
  /// again: see `excessBytes`.
  public var textLimitBytes = 8192
  /// What was deleted last by the word or line, for `yank`.
  public internal(set) var killed = ""

  /// The column that moves up and down keep to, though lines between are shorter.
  var goalColumn: Int?
  /// Whether the last thing done was a kill, which the next one joins.
  var isKilling = false
  /// Whether line breaks become blanks.
  let keepsOneLine: Bool

  /// An editor with the cursor behind a text.
  public init(_ text: String = "") {
    self.init(text, keepsOneLine: false)
  }

  init(_ text: String, keepsOneLine: Bool) {
    self.keepsOneLine = keepsOneLine
    replace(place, place, with: text)
  }

  // MARK: What is there

  /// Of the whole text, in UTF-8.
  public var byteCount: Int { text.utf8.count }

  public var isEmpty: Bool { text.isEmpty }

  /// Whether there is nothing to send.
  public var isBlank: Bool { lines.allSatisfy { $0.allSatisfy(\.isWhitespace) } }

  /// The cursor's line, from 0.
  public var line: Int { place.line }

  /// How many characters of its line stand before the cursor.
  public var column: Int { place.offset }

  /// How many characters of the text stand before the cursor, a line break counted as one.
  public var cursor: Int {
    lines[..<place.line].reduce(place.offset) { $0 + $1.count + 1 }
  }

  /// Bytes too many to be sent.
  public var excessBytes: Int { textLimitBytes == 0 ? 0 : max(0, byteCount - textLimitBytes) }

  /// What the text can grow to, in UTF-8: a limit on what one paste can cost.
  public var capacityBytes: Int { max(65_536, textLimitBytes) }

  // MARK: Changes

  /// Puts a text at the cursor, which then stands behind it. Line breaks of all kinds become
  /// `\n`; control characters but tabs are left out, since nobody could see them.
  public mutating func insert(_ text: String) throws(Full) {
    try put(place, place, text)
    endVerticalMove()
  }

  public mutating func newLine() throws(Full) { try insert("\n") }

  /// Puts a text in place of the `count` characters before the cursor, which must be of its line.
  public mutating func replace(last count: Int, with text: String) throws(Full) {
    precondition(count <= place.offset, "the characters are of the cursor's line")
    try put(Place(line: place.line, offset: place.offset - count), place, text)
    endVerticalMove()
  }

  /// Puts a text in place of all there is, and the cursor behind it.
  public mutating func replaceAll(with text: String) throws(Full) {
    try put(Place(line: 0, offset: 0), end, text)
    endVerticalMove()
  }

  /// Puts in place of a part, from `range.lowerBound` characters on (a line break counted as one).
  public mutating func replace(_ range: Range<Int>, with text: String) throws(Full) {
    try put(place(at: range.lowerBound), place(at: range.upperBound), text)
    endVerticalMove()
  }

  /// Empties it; what was killed stays.
  public mutating func clear() {
    lines = [[]]
    text = ""
    place = Place(line: 0, offset: 0)
    byteOffset = 0
    endVerticalMove()
  }

  // MARK: Places

  var end: Place { Place(line: lines.count - 1, offset: lines[lines.count - 1].count) }

  /// Behind so many characters, or the end.
  func place(at cursor: Int) -> Place {
    var rest = max(0, cursor)
    for (line, characters) in lines.enumerated() {
      if rest <= characters.count { return Place(line: line, offset: rest) }
      rest -= characters.count + 1
    }
    return end
  }

  /// Puts the cursor at a place that there is.
  mutating func set(_ place: Place) {
    byteOffset = bytes(before: place)
    self.place = place
  }

  /// A part of the text.
  func text(from start: Place, to end: Place) -> String {
    String(text[index(bytes(before: start))..<index(bytes(before: end))])
  }

  private func index(_ bytes: Int) -> String.Index {
    text.utf8.index(text.startIndex, offsetBy: bytes)
  }

  /// Counted from the cursor, which is near in most cases.
  private func bytes(before place: Place) -> Int {
    place < self.place
      ? byteOffset - bytes(from: place, to: self.place)
      : byteOffset + bytes(from: self.place, to: place)
  }

  /// After all but moves up and down, and kills.
  mutating func endVerticalMove() {
    goalColumn = nil
    isKilling = false
  }

  private mutating func put(_ start: Place, _ end: Place, _ text: String) throws(Full) {
    // Before it is looked at: it may be far too long.
    let bytes = byteCount - self.bytes(from: start, to: end) + text.utf8.count
    guard bytes <= max(capacityBytes, byteCount) else {
      throw Full(bytes: bytes, capacityBytes: capacityBytes)
    }
    replace(start, end, with: text)
  }

  private func bytes(from start: Place, to end: Place) -> Int {
    var count = 0
    for line in start.line...end.line {
      let from = line == start.line ? start.offset : 0
      let to = line == end.line ? end.offset : lines[line].count
      if line > start.line { count += 1 }
      for index in from..<to { count += lines[line][index].utf8.count }
    }
    return count
  }

  /// The one way in which a text changes: a part of it becomes another, the cursor stands behind that.
  mutating func replace(_ start: Place, _ end: Place, with text: String) {
    let pieces = TextCleaning.lines(of: text, joined: keepsOneLine)
    let cleaned = pieces.joined(separator: "\n")
    let startByte = bytes(before: start)
    self.text.replaceSubrange(index(startByte)..<index(bytes(before: end)), with: cleaned)
    byteOffset = startByte + cleaned.utf8.count
    var cut = start.offset..<max(start.offset, end.offset)
    if start.line < end.line {
      let tail = lines[end.line][end.offset...]
      lines[start.line].replaceSubrange(start.offset..., with: tail)
      lines.removeSubrange(start.line + 1...end.line)
      cut = start.offset..<start.offset
    }
    place.line = start.line
    if pieces.count == 1 {
      splice(pieces[0], into: cut, of: start.line)
    } else {
      let tail = Array(lines[start.line][cut.upperBound...])
      lines[start.line].removeSubrange(cut.lowerBound...)
      splice(pieces[0], into: cut.lowerBound..<cut.lowerBound, of: start.line)
      let middle = pieces[1..<(pieces.count - 1)].map(Self.characters)
      lines.insert(contentsOf: middle + [tail], at: start.line + 1)
      place.line += pieces.count - 1
      splice(pieces[pieces.count - 1], into: 0..<0, of: place.line)
    }
  }

  /// Puts characters into a line, and finds anew where they and their neighbours begin: a mark joins
  /// the letter before it, flags pair up differently (UAX #29). A boundary depends on what
  /// stands before it and on one scalar behind: so the character before is where to begin, and
  /// the first of the following ones that begins where it did is where to stop. The cursor goes
  /// behind the text, or behind the character that it became a part of.
  private mutating func splice(_ text: String, into range: Range<Int>, of line: Int) {
    let start = max(0, range.lowerBound - 1)
    var head = start < range.lowerBound ? String(lines[line][start]) : ""
    head += text
    let rest = lines[line].count - range.upperBound
    var taken = min(1, rest)
    while true {
      var joined = head
      for index in 0..<taken { joined.append(lines[line][range.upperBound + index]) }
      let characters = Self.characters(joined)
      let isSettled =
        taken == rest
        || characters[characters.count - 1].utf8.count
          == lines[line][range.upperBound + taken - 1].utf8.count
      guard isSettled else {
        taken = min(taken * 2, rest)
        continue
      }
      var behind = joined.utf8.count - head.utf8.count
      var count = characters.count
      while behind > 0, characters[count - 1].utf8.count <= behind {
        behind -= characters[count - 1].utf8.count
        count -= 1
      }
      place.offset = start + count
      byteOffset += behind
      lines[line].replaceSubrange(start..<range.upperBound + taken, with: characters)
      return
    }
  }

  /// In ASCII without CR every scalar is a character.
  private static func characters(_ text: String) -> [Character] {
    text.utf8.allSatisfy { $0 < 0x80 }
      ? text.utf8.map { Character(Unicode.Scalar($0)) } : Array(text)
  }
}
