/// What one column of one row shows.
public struct Cell: Hashable, Sendable {
  /// One grapheme cluster; of no meaning where `width` is 0.
  public var character: Character
  /// The columns it takes: 1 or 2; 0 for the right half of the one before.
  public var width: UInt8
  public var style: Style

  /// Bits that are the same are the same character, which for nearly all of them spares the comparison
  /// as Unicode has it.
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
