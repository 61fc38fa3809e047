import Mixing
import WebSocket

/// The files of the web page with their addresses and finished responses. Nothing in them is
/// private, so they are served without authentication.
///
/// The page itself is at `/`, which a browser revalidates (`no-cache` and an `ETag`). All files are
/// also at `/web/VERSION/NAME`, where VERSION is a hash of their content: they refer to each other by
/// relative addresses, and a browser may keep them forever (`immutable`). The modules that `app.js`
/// imports are one file (`WebModules`). In `/` and the other files with an address of their own,
/// `{version}` stands for that hash and `{files}` for the list of names in JSON.
package struct WebFiles: Sendable {
  /// A file as it was embedded.
  package struct Source {
    package var name: String
    package var bytes: [UInt8]

    package init(name: String, bytes: [UInt8]) {
      self.name = name
      self.bytes = bytes
    }
  }

  /// One file, ready to be sent.
  private struct File {
    var plain: HTTPResponse
    var gzip: HTTPResponse?
    var tag: String
    var notModified: HTTPResponse
  }

  /// How many files one address may request per second, and at once. A page needs each file once,
  /// and many people may share the address of a proxy.
  static let requestsPerSecond = 500

  /// The hash of all files.
  package let version: String
  private var files: [String: File] = [:]

  /// No files: every address is not found.
  package init() { version = "" }

  /// - Parameter gzip: compresses a file; `nil` if that is not possible.
  package init(_ sources: [Source], gzip: ([UInt8]) -> [UInt8]?) {
    var hash = FNV1a()
    for source in sources {
      hash.combine(source.name.utf8.span)
      hash.combine(source.bytes.span)
    }
    version = String(hash.value, radix: 36)
    let sources = Self.served(sources)
    let names = sources.map(\.name).filter { Self.ownPaths[$0] == nil || $0 == Self.page }
    for source in sources {
      var source = source
      if Self.ownPaths[source.name] != nil {
        let text = String(decoding: source.bytes, as: UTF8.self)
          .replacing("{version}", with: version)
          .replacing("\"{files}\"", with: "[\(names.map { "\"\($0)\"" }.joined(separator: ","))]")
        source.bytes = Array(text.utf8)
      }
      let compressed = gzip(source.bytes).flatMap { $0.count < source.bytes.count ? $0 : nil }
      if let path = Self.ownPaths[source.name] {
        files[path] = Self.file(source, compressed, isImmutable: false)
      }
      if names.contains(source.name) {
        files["/web/\(version)/\(source.name)"] = Self.file(source, compressed, isImmutable: true)
      }
    }
  }

  /// The files as they are served: without comments, and with the modules of the page combined.
  private static func served(_ sources: [Source]) -> [Source] {
    var served: [Source] = []
    var scripts: [(name: String, text: String)] = []
    for var source in sources {
      let isScript = source.name.hasSuffix(".js")
      if isScript || source.name.hasSuffix(".css") { source.bytes = withoutComments(source.bytes) }
      if isScript, ownPaths[source.name] == nil {
        scripts.append((source.name, String(decoding: source.bytes, as: UTF8.self)))
      } else {
        served.append(source)
      }
    }
    let modules = WebModules(scripts, entry: "app.js")
    for (name, _) in scripts where !modules.isCombined(name) {
      served.append(Source(name: name, bytes: Array(modules.text(name).utf8)))
    }
    if let combined = modules.combined {
      served.append(Source(name: WebModules.combinedName, bytes: Array(combined.utf8)))
    }
    return served
  }

  /// The number of addresses.
  package var count: Int { files.count }

  /// Returns the response to a GET or HEAD, or `nil` if there is no such file.
  func response(to request: HTTPRequest) -> HTTPResponse? {
    guard let file = files[String(request.path)] else { return nil }
    if EntityTag.isNamed(file.tag, in: request.headers["If-None-Match"]) { return file.notModified }
    if let gzip = file.gzip, Self.acceptsGzip(request.headers.list("Accept-Encoding")) {
      return gzip
    }
    return file.plain
  }

  // MARK: - The files

  private static let page = "index.html"
  /// The files that have an address of their own, because it has to stay the same.
  private static let ownPaths = [
    page: "/", "service-worker.js": "/service-worker.js", "embed.js": "/embed.js",
  ]

  private static let contentTypes = [
    "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml", "png": "image/png",
    "webmanifest": "application/manifest+json",
  ]

  private static func file(_ source: Source, _ compressed: [UInt8]?, isImmutable: Bool) -> File {
    let ending = source.name.split(separator: ".").last.map(String.init) ?? ""
    guard let contentType = contentTypes[ending] else {
      preconditionFailure("\(source.name): no content type for this name")
    }
    // A weak tag holds for both forms (RFC 9110 §8.8.1).
    let tag = "\"\(String(FNV1a.hash(source.bytes.span), radix: 36))\""
    func with(_ response: HTTPResponse) -> HTTPResponse {
      var response = response
      response.add("ETag", "W/\(tag)")
      response.add(
        "Cache-Control", isImmutable ? "public, max-age=31536000, immutable" : "no-cache")
      response.add("Vary", "Accept-Encoding")
      response.add("X-Content-Type-Options", "nosniff")
      response.add("Referrer-Policy", "no-referrer")
      if ending == "html" {
        response.add("Content-Security-Policy", contentSecurityPolicy)
        response.add("Cross-Origin-Opener-Policy", "same-origin")
        response.add("Cross-Origin-Resource-Policy", "same-origin")
        response.add("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
      } else {
        // Other sites may embed a conversation, as far as auth.origins lets them connect.
        response.add("Content-Security-Policy", "default-src 'none'; connect-src 'self'")
        response.add("Access-Control-Allow-Origin", "*")
        response.add("Cross-Origin-Resource-Policy", "cross-origin")
      }
      return response
    }
    var gzip = compressed.map {
      with(HTTPResponse(status: 200, contentType: contentType, body: $0))
    }
    gzip?.add("Content-Encoding", "gzip")
    return File(
      plain: with(HTTPResponse(status: 200, contentType: contentType, body: source.bytes)),
      gzip: gzip, tag: tag, notModified: with(HTTPResponse(status: 304)))
  }

  /// Returns a script or style without its comments, which are a third of it: lines that begin with
  /// `//`, what follows ` // ` outside of a literal, what is between `/*` at the beginning of a line and
  /// the next `*/`, and types (`/** … */`) within a line. The files have no such text in a literal of
  /// several lines.
  static func withoutComments(_ bytes: [UInt8]) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count)
    var isInComment = false
    for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true) {
      var rest = line.drop { $0 == UInt8(ascii: " ") }
      if isInComment {
        isInComment = rest.range(of: "*/") == nil
        continue
      }
      if rest.isEmpty || rest.starts(with: "//".utf8) { continue }
      if rest.starts(with: "/*".utf8), rest.range(of: "*/") == nil {
        isInComment = true
        continue
      }
      let isBlank = { (bytes: ArraySlice<UInt8>) in bytes.allSatisfy { $0 == UInt8(ascii: " ") } }
      var kept: [UInt8] = []
      while let start = rest.range(of: "/**")?.lowerBound,
        let end = rest[start...].range(of: "*/")?.upperBound
      {
        kept += rest[..<start]
        rest = rest[end...].drop { $0 == UInt8(ascii: " ") }
      }
      if kept.isEmpty, rest.starts(with: "/*".utf8), let end = rest.range(of: "*/"),
        isBlank(rest[end.upperBound...])
      {
        continue
      }
      kept += rest
      kept.removeLast(kept.count - lengthWithoutComment(kept))
      if !isBlank(kept[...]) { output += kept + [UInt8(ascii: "\n")] }
    }
    return output
  }

  /// The length of a line before ` // ` and the spaces in front of it, unless that may be in a literal.
  private static func lengthWithoutComment(_ line: [UInt8]) -> Int {
    guard let start = line[...].range(of: " // ")?.lowerBound else { return line.count }
    for quote in "\"'`".utf8 where line[..<start].count(where: { $0 == quote }) % 2 == 1 {
      return line.count
    }
    return line[..<start].lastIndex { $0 != UInt8(ascii: " ") }.map { $0 + 1 } ?? 0
  }

  /// Everything comes from the relay: scripts, style, pictures (which the page makes `blob:`
  /// addresses of), and the connection. No inline script or style, no plugin, no frame, no form.
  /// `require-trusted-types-for` makes assigning text as HTML an error; the one policy is for the
  /// address of the service worker.
  private static let contentSecurityPolicy = """
    default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
    manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types relay-worker
    """

  /// Whether gzip is accepted with a weight above 0 (RFC 9110 §12.5.3).
  static func acceptsGzip(_ codings: [some StringProtocol]) -> Bool {
    for coding in codings {
      let parts = coding.lowercased().filter { $0 != " " && $0 != "\t" }.split(separator: ";")
      guard parts.first == "gzip" || parts.first == "*" else { continue }
      let weight = parts.dropFirst().first { $0.hasPrefix("q=") }?.dropFirst(2)
      return weight.map { $0.contains { "1"..."9" ~= $0 } } ?? true
    }
    return false
  }
}

extension ArraySlice<UInt8> {
  /// Returns the first range that equals a text. The standard library's `firstRange(of:)` is not
  /// specialized for bytes: for the files of the page it took most of the relay's start.
  fileprivate func range(of text: StaticString) -> Range<Int>? {
    let length = text.utf8CodeUnitCount
    guard count >= length else { return nil }
    return (startIndex...endIndex - length).lazy.map { $0..<$0 + length }.first { range in
      range.allSatisfy { unsafe text.utf8Start[$0 - range.lowerBound] == self[$0] }
    }
  }
}
