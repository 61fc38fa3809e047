/// A user's picture.
public struct Avatar: Equatable, Sendable {
  /// A media type of an image without active content.
  public var contentType: String
  public var bytes: [UInt8]

  public init(contentType: String, bytes: [UInt8]) {
    self.contentType = contentType
    self.bytes = bytes
  }
}
