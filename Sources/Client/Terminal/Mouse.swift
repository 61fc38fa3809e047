/// A mouse event.
public struct Mouse: Hashable, Sendable {
  public enum Action: Hashable, Sendable { case press, release, drag, wheelUp, wheelDown }
  public enum Button: Hashable, Sendable { case left, middle, right, none }
  public var action: Action
  public var button: Button
  public var position: Position

  public init(_ action: Action, _ button: Button, at position: Position) {
    self.action = action
    self.button = button
    self.position = position
  }
}
