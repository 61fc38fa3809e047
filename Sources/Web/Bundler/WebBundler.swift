internal import Glibc
internal import Mixing

/// usage: WebBundler OUTPUT FILE...
///
/// Writes the files of the web page, finished, as Swift for the module `Server`. The build runs it: see
/// the plugin `EmbedPage`.
@main
enum WebBundler {
  static func main() {
    let arguments = CommandLine.arguments
    do throws(BundlingError) {
      var sources: [String: String] = [:]
      for path in arguments.dropFirst(2) {
        let parts = path.split(separator: "/").suffix(2)
        let isInFolder = parts.first != "page"
        sources[parts.suffix(isInFolder ? 2 : 1).joined(separator: "/")] = try read(path)
      }
      let text = try swift(Page(sources).files)
      // An unchanged file keeps its time: then `Server` is not compiled again after a build in the
      // other configuration, which shares this file and runs this program again.
      if (try? read(arguments[1])) != text { try write(text, to: arguments[1]) }
    } catch {
      print("error: the web page: \(error)")
      exit(1)
    }
  }

  /// Returns the declaration of the table. A compressed file is a text of the characters U+0000 to
  /// U+00FF, because a literal of hundreds of thousands of numbers takes minutes to compile.
  private static func swift(_ files: [Page.File]) throws(BundlingError) -> String {
    var text = "extension EmbeddedFile {\n  static let all = [\n"
    for file in files {
      let bytes = Array(file.text.utf8)
      let compressed = try gzip(bytes)
      let latin1 = String(String.UnicodeScalarView(compressed.map { Unicode.Scalar($0) }))
      text += """
            EmbeddedFile(
              path: \(literal(file.path)), contentType: \(literal(file.contentType)),
              tag: "\(String(FNV1a.hash(bytes.span), radix: 36))", isImmutable: \(file.isImmutable),
              text: \(literal(file.text)),
              gzip: \(compressed.count < bytes.count ? literal(latin1) : "nil")),

        """
    }
    return text + "  ]\n}\n"
  }

  private static func literal(_ text: String) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": literal += "\\\(scalar)"
      case "\u{20}"..."\u{7E}", "\u{A0}"...: literal.unicodeScalars.append(scalar)
      default: literal += "\\u{\(String(scalar.value, radix: 16))}"
      }
    }
    return literal + "\""
  }

  private static func read(_ path: String) throws(BundlingError) -> String {
    guard let file = unsafe fopen(path, "r") else {
      throw BundlingError("\(path): cannot be opened")
    }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    while case let byte = unsafe getc(file), byte != EOF { bytes.append(UInt8(byte)) }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw BundlingError("\(path): is not UTF-8")
    }
    return text
  }

  private static func write(_ text: String, to path: String) throws(BundlingError) {
    guard let file = unsafe fopen(path, "w"), unsafe fputs(text, file) >= 0,
      unsafe fclose(file) == 0
    else { throw BundlingError("\(path): cannot be written") }
  }
}
