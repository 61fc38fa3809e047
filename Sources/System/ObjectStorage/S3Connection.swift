internal import CCurl

/// A connection to S3 (a libcurl easy handle), which is used for one request after the other.
@safe struct S3Connection: ~Copyable, Sendable {
  struct Answer {
    var status: Int
    var body: [UInt8]
    /// The headers `Content-Range` and `ETag`; empty = none.
    var contentRange: String
    var tag: String
  }

  enum Outcome {
    case answer(Answer)
    case failure(String)
  }

  private static let connectTimeoutMilliseconds = 10_000
  /// A transfer that is slower than this for so long has failed.
  private static let slowBytesPerSecond = 1000
  private static let slowSeconds = 30
  /// Longer answers are refused: an object of a backup has some 8 MiB.
  private static let limitBytes = 64 << 20

  private nonisolated(unsafe) let handle: UnsafeMutableRawPointer

  /// Initialized once, before any handle is created.
  private static let isStarted: Bool = ccurl_start() == CURLE_OK

  init() {
    precondition(Self.isStarted, "libcurl cannot start")
    guard let handle = unsafe curl_easy_init() else { fatalError("libcurl: out of memory") }
    unsafe self.handle = handle
  }

  deinit { unsafe curl_easy_cleanup(handle) }

  /// Carries out a request, without following redirects.
  /// - Parameter content: sent, if it is not `nil`.
  mutating func send(
    _ method: String, _ url: String, headers: [String], content: [UInt8]?
  ) -> Outcome {
    unsafe curl_easy_reset(handle)
    set(CURLOPT_URL, url)
    set(CURLOPT_CUSTOMREQUEST, method)
    set(CURLOPT_USERAGENT, "relay")
    set(CURLOPT_PROTOCOLS_STR, "http,https")
    set(CURLOPT_PATH_AS_IS, 1)
    set(CURLOPT_NOSIGNAL, 1)
    set(CURLOPT_NOPROXY, "localhost,127.0.0.1,::1")
    set(CURLOPT_CONNECTTIMEOUT_MS, Self.connectTimeoutMilliseconds)
    set(CURLOPT_LOW_SPEED_LIMIT, Self.slowBytesPerSecond)
    set(CURLOPT_LOW_SPEED_TIME, Self.slowSeconds)
    var list: UnsafeMutablePointer<curl_slist>?
    defer { unsafe curl_slist_free_all(list) }
    // Not those of a form, and no waiting before the content.
    for header in headers + ["content-type:", "expect:"] {
      unsafe list = curl_slist_append(list, header)
    }
    unsafe ccurl_set_headers(handle, list)
    if let content {
      // An empty one has no address.
      let bytes = content.isEmpty ? [0] : content
      unsafe bytes.withUnsafeBytes { bytes in
        guard let start = bytes.baseAddress else { return }
        _ = unsafe ccurl_set_body(
          handle, start.assumingMemoryBound(to: CChar.self), content.count)
      }
    }
    let body = Body()
    unsafe ccurl_set_sinks(
      handle,
      { bytes, size, count, context in
        guard let context = unsafe context else { return 0 }
        let body = unsafe Unmanaged<Body>.fromOpaque(context).takeUnretainedValue()
        let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
        unsafe body.take(header: String(decoding: piece, as: UTF8.self))
        return size * count
      },
      { bytes, size, count, context in
        guard let context = unsafe context else { return 0 }
        let body = unsafe Unmanaged<Body>.fromOpaque(context).takeUnretainedValue()
        let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
        guard body.bytes.count + piece.count <= S3Connection.limitBytes else { return 0 }
        unsafe body.bytes.append(contentsOf: piece)
        return size * count
      }, Unmanaged.passUnretained(body).toOpaque())
    let code = unsafe curl_easy_perform(handle)
    guard code == CURLE_OK else {
      return .failure(unsafe String(cString: curl_easy_strerror(code)))
    }
    return .answer(
      Answer(
        status: unsafe ccurl_status(handle), body: body.bytes,
        contentRange: body.headers["content-range"] ?? "", tag: body.headers["etag"] ?? ""))
  }

  private final class Body {
    var bytes: [UInt8] = []
    var headers: [String: String] = [:]

    func take(header line: String) {
      guard let colon = line.firstIndex(of: ":") else { return }
      let name = line[..<colon].lowercased()
      guard ["content-range", "etag"].contains(name) else { return }
      headers[name] = line[line.index(after: colon)...].filter { !$0.isWhitespace }
    }
  }

  private func set(_ option: CURLoption, _ number: Int) {
    unsafe ccurl_set_number(handle, option, number)
  }

  private func set(_ option: CURLoption, _ text: String) {
    unsafe ccurl_set_text(handle, option, text)
  }
}
