public import Terminal

/// What the view makes of a chat: the screen, and what lies where for the mouse.
public struct Drawing: Sendable {
  public enum Target: Equatable, Sendable {
    case conversation(String)
    case message(Message.Key)
    case composer
    /// The hint that there are newer messages below.
    case newest
    /// A row of what lies over the screen.
    case choice(Int)
  }

  public var grid: Grid
  /// Later ones lie over earlier ones.
  public var targets: [(rect: Rect, target: Target)] = []

  public init(grid: Grid) { self.grid = grid }

  /// What is at a place.
  public func target(at position: Position) -> Target? {
    targets.last { $0.rect.contains(position) }?.target
  }
}
