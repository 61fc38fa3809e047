/// A multi-line text editor with a cursor between its characters (grapheme clusters).
///
/// The cost of a keystroke depends on the length of its line only through one memory move.
public struct TextEditor: Equatable, Sendable {
  /// A position between two characters.
  public struct Place: Hashable, Comparable, Sendable {
    /// From 0.
    public var line: Int
    /// The number of the line's characters before it.
    public var offset: Int

    public init(line: Int, offset: Int) {
      self.line = line
      self.offset = offset
    }

    public static func < (a: Place, b: Place) -> Bool {
      (a.line, a.offset) < (b.line, b.offset)
    }
  }

  /// An insertion that was rejected because the text would exceed `capacityBytes`. The text is not
  /// changed.
  public struct Full: Error, Equatable, Sendable {
    /// The size that the text would have had, in UTF-8.
    public var bytes: Int
    public var capacityBytes: Int
  }

  /// The characters of each line, without the line breaks; never empty.
  public internal(set) var lines: [[Character]] = [[]]
  /// The whole text, with lines separated by `\n`.
  public private(set) var text = ""
  /// The position of the cursor.
  public private(set) var place = Place(line: 0, offset: 0)
  /// The number of bytes of `text` before the cursor.
  private var byteOffset = 0
  /// The maximum size of a message, in UTF-8; 0 for no limit. The text may exceed it temporarily:
  /// see `excessBytes`.
  public var textLimitBytes = 8192
  /// The last word or line that was deleted, for `yank`.
  public internal(set) var killed = ""

  /// The column that vertical moves keep, even across shorter lines.
  var goalColumn: Int?
  /// Whether the last command was a kill, to which the next one is appended.
  var isKilling = false
  /// Whether line breaks become spaces.
  let keepsOneLine: Bool

  /// Creates an editor with the cursor after a text.
  public init(_ text: String = "") {
    self.init(text, keepsOneLine: false)
  }

  init(_ text: String, keepsOneLine: Bool) {
    self.keepsOneLine = keepsOneLine
    replace(place, place, with: text)
  }

  // MARK: Content

  /// The size of the whole text, in UTF-8.
  public var byteCount: Int { text.utf8.count }

  public var isEmpty: Bool { text.isEmpty }

  /// Whether the text is empty or white space.
  public var isBlank: Bool { lines.allSatisfy { $0.allSatisfy(\.isWhitespace) } }

  /// The cursor's line, from 0.
  public var line: Int { place.line }

  /// The number of characters of the line before the cursor.
  public var column: Int { place.offset }

  /// The number of characters of the text before the cursor; a line break counts as one.
  public var cursor: Int {
    lines[..<place.line].reduce(place.offset) { $0 + $1.count + 1 }
  }

  /// The number of bytes by which the text exceeds the limit for sending.
  public var excessBytes: Int { textLimitBytes == 0 ? 0 : max(0, byteCount - textLimitBytes) }

  /// The maximum size of the text, in UTF-8, which limits the cost of a paste.
  public var capacityBytes: Int { max(65_536, textLimitBytes) }

  // MARK: Changes

  /// Inserts a text at the cursor, which moves after it. Line breaks of all kinds become `\n`;
  /// control characters except tabs are removed, because they are invisible.
  public mutating func insert(_ text: String) throws(Full) {
    try put(place, place, text)
    endVerticalMove()
  }

  public mutating func newLine() throws(Full) { try insert("\n") }

  /// Replaces the `count` characters before the cursor, which must be in its line.
  public mutating func replace(last count: Int, with text: String) throws(Full) {
    precondition(count <= place.offset, "the characters are of the cursor's line")
    try put(Place(line: place.line, offset: place.offset - count), place, text)
    endVerticalMove()
  }

  /// Replaces the whole text, and puts the cursor after it.
  public mutating func replaceAll(with text: String) throws(Full) {
    try put(Place(line: 0, offset: 0), end, text)
    endVerticalMove()
  }

  /// Replaces a range, given in characters; a line break counts as one.
  public mutating func replace(_ range: Range<Int>, with text: String) throws(Full) {
    try put(place(at: range.lowerBound), place(at: range.upperBound), text)
    endVerticalMove()
  }

  /// Empties the text; the killed text is kept.
  public mutating func clear() {
    lines = [[]]
    text = ""
    place = Place(line: 0, offset: 0)
    byteOffset = 0
    endVerticalMove()
  }

  // MARK: Places

  var end: Place { Place(line: lines.count - 1, offset: lines[lines.count - 1].count) }

  /// Returns the place after this many characters, or the end.
  func place(at cursor: Int) -> Place {
    var rest = max(0, cursor)
    for (line, characters) in lines.enumerated() {
      if rest <= characters.count { return Place(line: line, offset: rest) }
      rest -= characters.count + 1
    }
    return end
  }

  /// Puts the cursor at an existing place.
  mutating func set(_ place: Place) {
    byteOffset = bytes(before: place)
    self.place = place
  }

  /// Returns a part of the text.
  func text(from start: Place, to end: Place) -> String {
    String(text[index(bytes(before: start))..<index(bytes(before: end))])
  }

  private func index(_ bytes: Int) -> String.Index {
    text.utf8.index(text.startIndex, offsetBy: bytes)
  }

  /// Counts from the cursor, which is usually near.
  private func bytes(before place: Place) -> Int {
    place < self.place
      ? byteOffset - bytes(from: place, to: self.place)
      : byteOffset + bytes(from: self.place, to: place)
  }

  /// Ends vertical moves and kills; every other command calls it.
  mutating func endVerticalMove() {
    goalColumn = nil
    isKilling = false
  }

  private mutating func put(_ start: Place, _ end: Place, _ text: String) throws(Full) {
    // Checked before the text is cleaned, because it may be far too long.
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

  /// Replaces a part of the text and puts the cursor after it. Every change of the text goes
  /// through this function.
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

  /// Inserts characters into a line and recomputes the grapheme clusters around them: a mark joins
  /// the letter before it, flags pair up differently (UAX #29). A boundary depends on the text
  /// before it and on one scalar after it. So the recomputation begins at the previous character,
  /// and stops at the first of the following characters that begins where it did before. The cursor
  /// moves after the text, or after the character that the text became a part of.
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
