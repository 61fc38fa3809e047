internal import Mixing

/// The files of the web page as the relay serves them. Nothing in them is private.
///
/// The messenger is at `/`, which a browser revalidates, and for addresses a folder below, such as
/// `/join/CODE`, at `/join/`. All files are also at `/web/VERSION/NAME`, where VERSION is a hash of their
/// content: they refer to each other by relative addresses, so that a proxy may serve the relay below a
/// path, and a browser may keep them forever. In the page, `{root}` stands for the way to `/`; in the files
/// with an address of their own, `{version}` stands for that hash and `{files}` for the list of names in
/// JSON.
struct Page {
  struct File {
    var path: String
    var contentType: String
    /// Whether another content has another path.
    var isImmutable: Bool
    var text: String
  }

  private(set) var files: [File] = []

  /// The files that have an address of their own, because it has to stay the same.
  private static let ownPaths = [
    index: "/", below: "/join/", "admin.html": "/admin",
    "service-worker.js": "/service-worker.js", "embed.js": "/embed.js",
  ]
  private static let index = "index.html"
  private static let below = "below.html"

  /// - Parameter sources: texts by their names, which are relative to the page.
  init(_ sources: [String: String]) throws(BundlingError) {
    var served = try Bundle(
      entry: "app.js", others: ["relay-room.js", "admin.js"], sources: sources
    )
    .files
    for (name, text) in sources.sorted(by: { $0.key < $1.key })
    where !name.contains("/") || name.hasSuffix(".css") {
      if name == Self.index {
        served.append((name, text.replacing("{root}", with: "")))
        served.append((Self.below, text.replacing("{root}", with: "../")))
      } else if name.hasSuffix(".html") {
        served.append((name, text.replacing("{root}", with: "")))
      } else if !name.hasSuffix(".js") {
        served.append((name, name.hasSuffix(".css") ? Minified.style(text) : text))
      } else if Self.ownPaths[name] != nil {
        served.append((name, Minified.script(try Scanner.tokens(of: text)) + "\n"))
      }
    }
    var hash = FNV1a()
    for (name, text) in served { hash.combine("\(name)\n\(text)".utf8.span) }
    let version = String(hash.value, radix: 36)
    let names = served.map(\.name).filter { !$0.hasSuffix(".js") || Self.ownPaths[$0] == nil }
    // The page for operators needs the relay, so it is not kept for when there is no connection.
    let kept = names.filter { !$0.hasPrefix("admin") }
    for (name, text) in served {
      let contentType = try Self.contentType(of: name)
      var text = text
      if let path = Self.ownPaths[name] {
        text = text.replacing("{version}", with: version)
          .replacing("\"{files}\"", with: "[\(kept.map { "\"\($0)\"" }.joined(separator: ","))]")
        files.append(File(path: path, contentType: contentType, isImmutable: false, text: text))
      }
      if names.contains(name) {
        let path = "/web/\(version)/\(name)"
        files.append(File(path: path, contentType: contentType, isImmutable: true, text: text))
      }
    }
  }

  private static func contentType(of name: String) throws(BundlingError) -> String {
    switch name.split(separator: ".").last {
    case "html": return "text/html; charset=utf-8"
    case "css": return "text/css; charset=utf-8"
    case "js": return "text/javascript; charset=utf-8"
    case "svg": return "image/svg+xml"
    case "webmanifest": return "application/manifest+json"
    default: throw BundlingError("\(name): no content type for this name")
    }
  }
}
