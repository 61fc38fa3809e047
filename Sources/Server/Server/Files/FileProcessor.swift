/// Looks at the bytes of an upload before it becomes a file: finds out what it is, and makes of a picture what is
/// shown. Called on threads that may wait for a child process.
package protocol FileProcessor: Sendable {
  /// - Parameter path: that of the bytes, which stay as they are. What is made of them lies beside it.
  func process(_ path: String) -> ProcessedFile

  /// Makes a PNG of a thumbnail.
  /// - Parameter output: the path of a new file, which is of no use if this returns `false`.
  func convertToPNG(_ path: String, into output: String) -> Bool
}

/// What a processor has found, and made.
package struct ProcessedFile: Sendable {
  package struct Thumbnail: Sendable {
    package var path: String
    package var width: Int64
    package var height: Int64
    /// In Base64.
    package var placeholder: String

    package init(path: String, width: Int64, height: Int64, placeholder: String) {
      (self.path, self.width, self.height) = (path, width, height)
      self.placeholder = placeholder
    }
  }

  /// The path of the bytes that are served instead of the upload's; `nil` = these.
  package var path: String?
  package var mediaType = "application/octet-stream"
  package var width: Int64?
  package var height: Int64?
  package var durationMilliseconds: Int64?
  package var thumbnail: Thumbnail?

  package init() {}
}
