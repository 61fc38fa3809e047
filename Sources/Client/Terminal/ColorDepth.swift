/// The number of colours that a terminal supports.
public enum ColorDepth: Int, Comparable, Hashable, Sendable {
  /// No colours (NO_COLOR, no-color.org), but attributes such as bold.
  case none
  /// The 16 of the terminal's own palette.
  case colors16
  /// xterm's palette: those 16, a 6×6×6 cube, and 24 greys.
  case colors256
  /// 24 bits.
  case trueColor

  public static func < (one: ColorDepth, other: ColorDepth) -> Bool {
    one.rawValue < other.rawValue
  }
}

extension Color {
  /// Returns the nearest colour that a terminal of this depth supports.
  public func lowered(to depth: ColorDepth) -> Color {
    switch (self, depth) {
    case (.standard, _), (_, .none): return .standard
    case (.palette(let index), .colors16) where index >= 16:
      let (red, green, blue) = Self.components(of: index)
      return .palette(Self.nearestOf16(red, green, blue))
    case (.rgb(let red, let green, let blue), .colors16):
      return .palette(Self.nearestOf16(Int(red), Int(green), Int(blue)))
    case (.rgb(let red, let green, let blue), .colors256):
      return .palette(Self.nearestOf256(Int(red), Int(green), Int(blue)))
    default: return self
    }
  }

  /// The levels of xterm's cube.
  private static let steps: [Int] = [0, 95, 135, 175, 215, 255]

  /// xterm's first 16; those of other terminals may differ and are not known.
  private static let named: [(Int, Int, Int)] = [
    (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205),
    (0, 205, 205), (229, 229, 229), (127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0),
    (92, 92, 255), (255, 0, 255), (0, 255, 255), (255, 255, 255),
  ]

  /// Returns red, green and blue of an index from 16 on.
  private static func components(of index: UInt8) -> (Int, Int, Int) {
    if index >= 232 {
      let grey = 8 + 10 * (Int(index) - 232)
      return (grey, grey, grey)
    }
    let cube = Int(index) - 16
    return (steps[cube / 36], steps[cube / 6 % 6], steps[cube % 6])
  }

  private static func nearestOf256(_ red: Int, _ green: Int, _ blue: Int) -> UInt8 {
    func step(_ part: Int) -> Int { part < 48 ? 0 : part < 115 ? 1 : (part - 35) / 40 }
    let (r, g, b) = (step(red), step(green), step(blue))
    let cube = distance((red, green, blue), (steps[r], steps[g], steps[b]))
    let shade = max(0, min(23, ((red + green + blue) / 3 - 3) / 10))
    let grey = 8 + 10 * shade
    if distance((red, green, blue), (grey, grey, grey)) < cube { return UInt8(232 + shade) }
    return UInt8(16 + 36 * r + 6 * g + b)
  }

  private static func nearestOf16(_ red: Int, _ green: Int, _ blue: Int) -> UInt8 {
    let nearest = named.indices.min {
      distance((red, green, blue), named[$0]) < distance((red, green, blue), named[$1])
    }
    return UInt8(nearest ?? 7)
  }

  /// Weights the components by the eye's sensitivity to them.
  private static func distance(_ one: (Int, Int, Int), _ other: (Int, Int, Int)) -> Int {
    let (red, green, blue) = (one.0 - other.0, one.1 - other.1, one.2 - other.2)
    return 2 * red * red + 4 * green * green + 3 * blue * blue
  }
}
