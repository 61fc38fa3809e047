/// The style of a cell (ECMA-48, SGR).
public struct Style: Hashable, Sendable {
  public struct Attributes: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public static let bold = Attributes(rawValue: 1)
    public static let dim = Attributes(rawValue: 2)
    public static let italic = Attributes(rawValue: 4)
    public static let underline = Attributes(rawValue: 8)
    public static let inverse = Attributes(rawValue: 16)
    public static let strikethrough = Attributes(rawValue: 32)
  }

  public var foreground: Color
  public var background: Color
  public var attributes: Attributes
  /// The number of a link in the grid, `Grid.number(of:)`; 0 for none.
  public var link: UInt8 = 0

  public init(
    _ foreground: Color = .standard, on background: Color = .standard,
    _ attributes: Attributes = []
  ) {
    self.foreground = foreground
    self.background = background
    self.attributes = attributes
  }
}
