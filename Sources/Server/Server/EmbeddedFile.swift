import Gateway

/// A file of the web page as this program contains it. `WebBundler` writes the table of them, `all`, when
/// the package is built.
struct EmbeddedFile {
  var path: String
  var contentType: String
  var tag: String
  var isImmutable: Bool
  var text: String
  /// Each character, from U+0000 to U+00FF, is a byte.
  var gzip: String?
}

extension WebFiles {
  /// Returns the files of the web page that this program contains.
  static func embedded(fileOrigin: String?) -> WebFiles {
    WebFiles(
      EmbeddedFile.all.map { file in
        WebFile(
          path: file.path, contentType: file.contentType, tag: file.tag,
          isImmutable: file.isImmutable, plain: Array(file.text.utf8),
          gzip: file.gzip.map { $0.unicodeScalars.map { UInt8($0.value) } })
      }, fileOrigin: fileOrigin)
  }
}
