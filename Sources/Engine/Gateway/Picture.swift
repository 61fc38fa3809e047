/// A user's picture.
package struct Picture: Equatable, Sendable {
  package var contentType: String
  package var bytes: [UInt8]

  package init(contentType: String, bytes: [UInt8]) {
    self.contentType = contentType
    self.bytes = bytes
  }
}
