import Relay
import WebSocket
import Wire

/// `GET` and `HEAD` of a file or its thumbnail.
///
/// The bytes are read a block at a time, the next one once the socket has taken the last. A client has the idle timeout
/// for each.
final class DownloadExchange: FileExchange {
  static let blockBytes = 131_072
  /// How many bytes tell the type of a thumbnail.
  private static let signatureBytes = 16

  private let file: String
  private let isThumbnail: Bool
  private let request: HTTPRequest
  /// The thumbnail is converted for this client.
  private let isPNG: Bool
  /// The link that makes the request; `nil` if it is a user's.
  private var link: FileLink?
  private var found: StoredFile?
  /// What is left to send.
  private var rest: Range<Int64> = 0..<0
  private var isFetching = false

  init(
    _ file: String, isThumbnail: Bool, _ request: HTTPRequest, _ settings: FileSettings,
    _ call: HTTPCall, _ id: ExchangeID, _ loop: ConnectionLoop, _ connection: ServerConnection
  ) {
    (self.file, self.isThumbnail, self.request) = (file, isThumbnail, request)
    isPNG = isThumbnail && Self.prefersPNG(request)
    super.init(settings, call, id, loop, connection)
  }

  override func start(_ content: [UInt8]) {
    let identity: Identity
    if let known = call.identity {
      identity = known
    } else {
      guard let link = FileLink(request),
        link.isValid(for: file, now: loop.now.wall, settings.code),
        !loop.context.authenticator.isBanned(link.user, wall: loop.now.wall)
      else {
        let problem = loop.chargeUnauthenticated(connection) ?? .noFile(file)
        return finish(problem.response)
      }
      self.link = link
      identity = Identity(user: link.user)
    }
    if let problem = loop.charge(requests: 1, to: identity.user) {
      return finish(problem.response)
    }
    askForReadable(file, as: identity)
  }

  override func take(_ answer: FileAnswer) {
    guard case .file(let found) = answer else { return concludeUnavailable() }
    guard let found, !isThumbnail || found.thumbnail != nil else {
      return conclude(HTTPProblem.noFile(file))
    }
    if let redirection { return conclude(redirection) }
    self.found = found
    read(found, at: 0, bytes: Self.signatureBytes)
  }

  override func take(_ result: FileWorkResult) {
    if response == nil { return begin(result) }
    isFetching = false
    guard case .bytes(let bytes, _) = result, !bytes.isEmpty, bytes.count <= rest.count else {
      // The file was removed meanwhile, or its disk fails: a connection that ends early says so.
      return loop.remove(connection, "the bytes of the file \(file) cannot be read any more")
    }
    rest = rest.lowerBound + Int64(bytes.count)..<rest.upperBound
    send(bytes)
  }

  override func fetchRest() -> Bool {
    guard let found, !rest.isEmpty else { return false }
    if isFetching { return true }
    isFetching = true
    read(found, at: rest.lowerBound, bytes: min(Self.blockBytes, rest.count))
    return true
  }

  private func read(_ found: StoredFile, at offset: Int64, bytes: Int) {
    let hash = served(found)
    keep(
      isPNG
        ? .readPNG(ofThumbnail: hash, user: link?.user ?? user, offset: offset, bytes: bytes)
        : .read(hash: hash, offset: offset, bytes: bytes))
  }

  private func served(_ found: StoredFile) -> String {
    isThumbnail ? found.thumbnail ?? "" : found.hash
  }

  // MARK: - The host of files

  /// Whether the request is to the host of the page, and files have one of their own.
  private var isAtPage: Bool {
    loop.context.router.fileHost.map { !$0.isHost(of: request) } ?? false
  }

  /// Sends a browser to the host of files, with a new link unless it has one; `nil` for a program, which is answered at any host.
  private var redirection: HTTPResponse? {
    guard isAtPage, link != nil || FileHost.isBrowsers(request) else { return nil }
    let link =
      link
      ?? FileLink(
        to: file, for: user, until: loop.now.wall + FileLink.milliseconds, settings.code)
    var address = loop.context.router.address(ofFile: file, link, isThumbnail: isThumbnail)
    for name in ["name", "disposition"] {
      if let value = request.query(name) { address += "&\(name)=\(PercentCoding.encode(value))" }
    }
    var response = HTTPResponse(status: 307)
    response.add("Location", address)
    if call.identity == nil { response.add("Cross-Origin-Resource-Policy", "cross-origin") }
    return response
  }

  // MARK: - The head

  /// Whether a client wants a PNG more than the WebP that the relay has.
  static func prefersPNG(_ request: HTTPRequest) -> Bool {
    let accepted = WeightedValues(request.headers.list("Accept"))
    return accepted.weight("image/png", "image/*", "*/*")
      > accepted.weight("image/webp", "image/*", "*/*")
  }

  private func begin(_ result: FileWorkResult) {
    guard let found else { return }
    switch result {
    case .bytes(let signature, let size): finish(head(of: found, signature, size))
    case .refused(let refusal): refuse(refusal)
    default: conclude(HTTPProblem.noFile(file))
    }
  }

  private func head(of found: StoredFile, _ signature: [UInt8], _ size: Int64) -> HTTPResponse {
    let tag = "\"\(served(found))\(isPNG ? "-png" : "")\""
    var response: HTTPResponse
    if EntityTag.isNamed(tag, in: request.headers["If-None-Match"]) {
      response = HTTPResponse(status: 304)
    } else {
      switch ByteRange(request, size: size, tag: tag) {
      case .whole: response = content(0..<size, status: 200, found, signature)
      case .part(let part):
        response = content(part, status: 206, found, signature)
        response.add("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)")
      case .unsatisfiable:
        response =
          HTTPProblem(
            416, "The file has \(size) bytes; Range begins after them.", code: .badField,
            field: "Range"
          ).response
        response.add("Content-Range", "bytes */\(size)")
        return response
      }
    }
    response.add("ETag", tag)
    if isThumbnail { response.add("Vary", "Accept") }
    response.add("Accept-Ranges", "bytes")
    // The relay decides which users may see a file, not a shared cache.
    response.add("Cache-Control", "private, max-age=3600")
    response.add("Content-Security-Policy", "default-src 'none'; sandbox")
    // A page that has got a link may show the file.
    if call.identity == nil { response.add("Cross-Origin-Resource-Policy", "cross-origin") }
    return response
  }

  private func content(
    _ part: Range<Int64>, status: Int, _ found: StoredFile, _ signature: [UInt8]
  ) -> HTTPResponse {
    let type =
      isThumbnail
      ? ServedType.ofPicture(signature) : ServedType(found.description.mediaType)
    var response = HTTPResponse(status: status, contentType: type.name, body: [])
    response.followingBytes = part.count
    if !call.headOnly { rest = part }
    let isShown = type.isInline && !isAtPage && request.query("disposition") != "attachment"
    response.add(
      "Content-Disposition",
      ContentDisposition.value(isInline: isShown, name: request.query("name")))
    return response
  }
}

/// The `Content-Type` of a file. A browser shows only what the relay has checked; it must not take anything for a
/// document with scripts.
struct ServedType: Equatable {
  var name: String
  var isInline: Bool

  /// - Parameter mediaType: by the content of the file.
  init(_ mediaType: String) {
    let isMedia = ["image/", "audio/", "video/"].contains { mediaType.hasPrefix($0) }
    isInline = isMedia && !mediaType.hasPrefix("image/svg")
    name =
      isInline
      ? mediaType
      : mediaType.hasPrefix("text/") ? "text/plain; charset=utf-8" : "application/octet-stream"
  }

  /// Returns the type of a picture that the relay has made, by its first bytes.
  static func ofPicture(_ signature: [UInt8]) -> Self {
    if signature.starts(with: [0xFF, 0xD8]) { return Self("image/jpeg") }
    return Self(signature.starts(with: [0x89, 0x50]) ? "image/png" : "image/webp")
  }
}
