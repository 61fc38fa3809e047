import WebSocket

/// A file of the web page, finished when the package was built.
package struct WebFile: Sendable {
  package var path: String
  package var contentType: String
  /// A hash of the content.
  package var tag: String
  /// Whether a browser may keep it forever, because another content has another path.
  package var isImmutable: Bool
  package var plain: [UInt8]
  /// `nil` if it would not be shorter.
  package var gzip: [UInt8]?

  package init(
    path: String, contentType: String, tag: String, isImmutable: Bool, plain: [UInt8],
    gzip: [UInt8]?
  ) {
    self.path = path
    self.contentType = contentType
    self.tag = tag
    self.isImmutable = isImmutable
    self.plain = plain
    self.gzip = gzip
  }
}

/// The files of the web page by their paths, with finished responses. Nothing in them is private, so they
/// are served without authentication.
package struct WebFiles: Sendable {
  /// One file, ready to be sent.
  private struct Responses {
    var plain: HTTPResponse
    var gzip: HTTPResponse?
    var tag: String
    var notModified: HTTPResponse
  }

  /// How many files one address may request per second, and at once. A page needs each file once,
  /// and many people may share the address of a proxy.
  static let requestsPerSecond = 500

  private var files: [String: Responses] = [:]

  /// - Parameters:
  ///   - files: none: every address is not found.
  ///   - fileOrigin: where the page gets what users have uploaded; `nil` = where it is itself.
  package init(_ files: [WebFile] = [], fileOrigin: String? = nil) {
    let policy = Self.contentSecurityPolicy(fileOrigin)
    for file in files { self.files[file.path] = Self.responses(file, policy) }
  }

  /// Returns the response to a GET or HEAD, or `nil` if there is no such file.
  /// - Parameter path: of the file; `nil` = that of the request.
  func response(to request: HTTPRequest, at path: Substring? = nil) -> HTTPResponse? {
    guard let file = files[String(path ?? request.path)] else { return nil }
    if EntityTag.isNamed(file.tag, in: request.headers["If-None-Match"]) { return file.notModified }
    let accepted = WeightedValues(request.headers.list("Accept-Encoding"))
    if let gzip = file.gzip, accepted.weight("gzip", "*") > 0 { return gzip }
    return file.plain
  }

  private static func responses(_ file: WebFile, _ pagePolicy: String) -> Responses {
    // A weak tag holds for both forms (RFC 9110 §8.8.1).
    let tag = "\"\(file.tag)\""
    func with(_ response: HTTPResponse) -> HTTPResponse {
      var response = response
      response.add("ETag", "W/\(tag)")
      response.add(
        "Cache-Control", file.isImmutable ? "public, max-age=31536000, immutable" : "no-cache")
      response.add("Vary", "Accept-Encoding")
      response.add("X-Content-Type-Options", "nosniff")
      response.add("Referrer-Policy", "no-referrer")
      if file.contentType.hasPrefix("text/html") {
        response.add("Content-Security-Policy", pagePolicy)
        response.add("Cross-Origin-Opener-Policy", "same-origin")
        response.add("Cross-Origin-Resource-Policy", "same-origin")
        response.add("Permissions-Policy", "camera=(), microphone=(self), geolocation=()")
      } else {
        // Other sites may embed a conversation, as far as auth.origins lets them connect.
        response.add("Content-Security-Policy", "default-src 'none'; connect-src 'self'")
        response.add("Access-Control-Allow-Origin", "*")
        response.add("Cross-Origin-Resource-Policy", "cross-origin")
      }
      return response
    }
    var gzip = file.gzip.map {
      with(HTTPResponse(status: 200, contentType: file.contentType, body: $0))
    }
    gzip?.add("Content-Encoding", "gzip")
    return Responses(
      plain: with(HTTPResponse(status: 200, contentType: file.contentType, body: file.plain)),
      gzip: gzip, tag: tag, notModified: with(HTTPResponse(status: 304)))
  }

  /// Everything comes from the relay: scripts, style, pictures and sounds (which the page makes `blob:`
  /// addresses of, or gets from the host of files), and the connection. No inline script or style, no plugin, no frame, no form.
  /// `require-trusted-types-for` makes assigning text as HTML an error; the one policy is for the
  /// address of the service worker.
  private static func contentSecurityPolicy(_ fileOrigin: String?) -> String {
    let files = fileOrigin.map { " \($0)" } ?? ""
    return """
      default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:\(files); \
      media-src 'self' blob:\(files); connect-src 'self'\(files); manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; \
      frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types relay-worker
      """
  }
}
