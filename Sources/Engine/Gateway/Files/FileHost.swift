import Relay
import WebSocket
import Wire

/// The host at which browsers get files (`files.host`): files alone, and by links alone, so that none shares an origin with
/// the page, nor is requested with its cookie.
package struct FileHost: Sendable {
  /// Such as `https://files.example.org`.
  package let origin: String
  /// Without the port, which proxies may leave out, and which cookies ignore (RFC 6265 §8.5).
  private let name: Substring

  package init(origin: String) {
    self.origin = origin
    name = RequestOrigin.name(origin.split(separator: "/").last.map(String.init) ?? "")
  }

  /// Whether a request is to this host.
  func isHost(of request: HTTPRequest) -> Bool {
    let host = RequestOrigin.name(request.host.lowercased())
    return host == name || host == "\(name)."  // the same name, as DNS may have it
  }

  /// Whether a browser makes a request by itself, such as for an image: of a script or another program it has the token
  /// of its user, or neither a cookie nor what only browsers send.
  static func isBrowsers(_ request: HTTPRequest) -> Bool {
    request.headers["Authorization"].isEmpty
      && !(request.headers["Cookie"].isEmpty && request.headers["Sec-Fetch-Mode"].isEmpty)
  }
}

extension RequestRouter {
  /// Returns the address at which a browser gets a file by a link.
  func address(ofFile file: String, _ link: FileLink, isThumbnail: Bool = false) -> String {
    let path = "/v1/files/\(file)\(isThumbnail ? "/thumbnail" : "")"
    return "\(fileHost?.origin ?? pathPrefix)\(path)?\(link.query)"
  }

  /// Routes a request to the host of files. No credentials but a link are looked at.
  func routeAtFileHost(_ request: HTTPRequest) throws(HTTPProblem) -> Route {
    let segments = request.pathSegments ?? []
    let isThumbnail = segments.count == 4 && segments[3] == "thumbnail"
    guard segments.count == 3 || isThumbnail, segments.starts(with: ["v1", "files"]),
      FileLink(request) != nil
    else {
      throw HTTPProblem(
        404,
        "Not found. This host has files only, at the addresses that POST /v1/files/{id}/link of the relay's own host answers.",
        code: .unknownType)
    }
    guard ["GET", "HEAD"].contains(request.method) else { throw .wrongMethod(allowed: "GET, HEAD") }
    var call = HTTPCall(target: .files(.content(segments[2], isThumbnail: isThumbnail, request)))
    call.headOnly = request.method == "HEAD"
    call.keepsAlive = !request.closes
    // A page that has a link may read the file: no credentials of a browser are involved.
    call.origin = "*"
    call.variesByOrigin = true
    return .call(call)
  }
}
