/// Ends a test that cannot go on.
public struct Unexpected: Error, CustomStringConvertible {
  public var description: String

  public init(_ description: String) { self.description = description }
}
