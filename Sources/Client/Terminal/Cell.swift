/// The content of one column of one row.
public struct Cell: Hashable, Sendable {
  /// One grapheme cluster; without meaning if `width` is 0.
  public var character: Character
  /// The columns it takes: 1 or 2; 0 for the right half of the previous cell.
  public var width: UInt8
  public var style: Style

  /// Compares the bits first: identical bits are the same character, which in nearly all cases
  /// avoids Unicode's comparison.
  public static func == (one: Cell, other: Cell) -> Bool {
    guard one.width == other.width, one.style == other.style else { return false }
    let bits = unsafe unsafeBitCast(one.character, to: (UInt64, UInt64).self)
    let others = unsafe unsafeBitCast(other.character, to: (UInt64, UInt64).self)
    return bits == others || one.character == other.character
  }

  public static func blank(_ style: Style = Style()) -> Cell {
    Cell(character: " ", width: 1, style: style)
  }
}
