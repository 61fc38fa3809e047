public import Terminal

/// The result of drawing: the screen, and the targets of the mouse.
public struct Drawing: Sendable {
  public enum Target: Equatable, Sendable {
    case conversation(String)
    case message(Message.Key)
    case composer
    /// The hint that there are newer messages below.
    case newest
    /// A row of an overlay.
    case choice(Int)
  }

  public var grid: Grid
  /// Later ones cover earlier ones.
  public var targets: [(rect: Rect, target: Target)] = []

  /// The people whose pictures were drawn, and those whose pictures would have been if they were
  /// loaded.
  public internal(set) var pictures: [String] = []
  public internal(set) var wantedPictures: [String] = []

  /// The same for pictures in the conversation; may name one several times.
  public internal(set) var thumbnails: [WantedThumbnail] = []
  public internal(set) var wantedThumbnails: [WantedThumbnail] = []

  public init(grid: Grid) { self.grid = grid }

  /// Returns the target at a position.
  public func target(at position: Position) -> Target? {
    targets.last { $0.rect.contains(position) }?.target
  }
}
