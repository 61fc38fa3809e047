/// A colour; the differ reduces it to one that the terminal supports.
public enum Color: Hashable, Sendable {
  /// The terminal's own foreground or background.
  case standard
  /// The palette of 256: 0 to 15 are the terminal's own (ANSI), then the cube, then greys.
  case palette(UInt8)
  case rgb(UInt8, UInt8, UInt8)

  /// The colour as one number, for fast comparison: a screen has many cells.
  private var bits: UInt32 {
    switch self {
    case .standard: 0
    case .palette(let index): 1 << 24 | UInt32(index)
    case .rgb(let red, let green, let blue):
      2 << 24 | UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue)
    }
  }

  public static func == (one: Color, other: Color) -> Bool { one.bits == other.bits }
}
