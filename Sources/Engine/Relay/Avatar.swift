/// A user's picture, as a PNG that the relay has made.
public struct Avatar: Equatable, Sendable {
  public var bytes: [UInt8]

  public init(_ bytes: [UInt8]) { self.bytes = bytes }
}
