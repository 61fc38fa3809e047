internal import CCurl

/// One request in progress (a libcurl easy handle). Confined to its client's thread.
@safe final class WebTransfer {
  let handle: UnsafeMutableRawPointer
  private(set) var answer = WebAnswer()
  private let limitBytes: Int
  private let reach: WebReach
  private let isOverUnixSocket: Bool
  /// The origin of a connection that was refused.
  private var refusedOrigin: String?
  private var isTooLong = false
  private var headers: UnsafeMutablePointer<curl_slist>?
  private let errorText: UnsafeMutablePointer<CChar>

  init(_ request: WebRequest, _ options: WebOptions) {
    limitBytes = request.limitBytes
    reach = options.reach
    isOverUnixSocket = request.unixSocket != nil
    guard let handle = unsafe curl_easy_init() else { fatalError("libcurl: out of memory") }
    unsafe self.handle = handle
    unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    unsafe ccurl_set_error_buffer(handle, errorText)
    set(CURLOPT_URL, request.url)
    if let socket = request.unixSocket { set(CURLOPT_UNIX_SOCKET_PATH, socket) }
    for header in request.headers { unsafe headers = curl_slist_append(headers, header) }
    unsafe ccurl_set_headers(handle, headers)
    set(CURLOPT_USERAGENT, options.userAgent)
    // No proxy can reach this machine.
    let isLoopback = WebAddress(request.url)?.isLoopback == true
    if isLoopback { set(CURLOPT_PROXY, "") }
    setLimits(options)
    setRedirects(request)
    if !options.followsRedirects { set(CURLOPT_FOLLOWLOCATION, 0) }
    if options.isOfCommand {
      set(CURLOPT_FOLLOWLOCATION, 0)
      if isLoopback {
        set(CURLOPT_SSL_VERIFYPEER, 0)
        set(CURLOPT_SSL_VERIFYHOST, 0)
      }
    }
    if let content = request.content {
      unsafe ccurl_set_body(handle, content, content.utf8.count)
    }
    if let method = request.method { set(CURLOPT_CUSTOMREQUEST, method) }
    if let login = request.login {
      set(CURLOPT_USERNAME, login.user)
      set(CURLOPT_PASSWORD, login.password)
    }
    unsafe ccurl_set_sinks(
      handle, { unsafe WebTransfer.takeHeader($0, $1, $2, $3) },
      { unsafe WebTransfer.takeBody($0, $1, $2, $3) },
      Unmanaged.passUnretained(self).toOpaque())
    unsafe ccurl_set_socket_opener(
      handle, { unsafe WebTransfer.openSocket($0, $2) },
      Unmanaged.passUnretained(self).toOpaque())
  }

  deinit {
    unsafe curl_easy_cleanup(handle)
    unsafe curl_slist_free_all(headers)
    unsafe errorText.deallocate()
  }

  private func set(_ option: CURLoption, _ number: Int) {
    unsafe ccurl_set_number(handle, option, number)
  }

  private func set(_ option: CURLoption, _ text: String) {
    unsafe ccurl_set_text(handle, option, text)
  }

  private func setLimits(_ options: WebOptions) {
    set(CURLOPT_CONNECTTIMEOUT_MS, options.connectTimeoutMilliseconds)
    set(CURLOPT_TIMEOUT_MS, options.timeoutMilliseconds)
    // Signals are unsafe with threads. QUICK_EXIT does not wait for pending name lookups.
    set(CURLOPT_NOSIGNAL, 1)
    set(CURLOPT_QUICK_EXIT, 1)
  }

  /// Never follows redirects to other schemes, or from https to http. Requests that send or receive
  /// a secret in a body follow none.
  private func setRedirects(_ request: WebRequest) {
    let schemes = request.url.lowercased().hasPrefix("https:") ? "https" : "http,https"
    set(CURLOPT_PROTOCOLS_STR, schemes)
    set(CURLOPT_REDIR_PROTOCOLS_STR, schemes)
    set(CURLOPT_FOLLOWLOCATION, request.content == nil ? 1 : 0)
    set(CURLOPT_MAXREDIRS, 5)
  }

  /// Returns the result of the transfer for libcurl's code.
  func outcome(_ code: CURLcode) -> Result<WebAnswer, WebFailure> {
    if isTooLong { return .failure(.tooLong(limitBytes: limitBytes)) }
    guard code == CURLE_OK else {
      if let refusedOrigin { return .failure(.refused(origin: refusedOrigin)) }
      let short = unsafe String(cString: curl_easy_strerror(code))
      if isOverUnixSocket, code == CURLE_COULDNT_CONNECT {
        // libcurl names the port of a URL that it has not used.
        return unsafe .failure(
          .network(short, detail: short, socketError: Int32(ccurl_os_error(handle))))
      }
      let detail = unsafe String(cString: errorText)
      return .failure(.network(short, detail: detail.isEmpty ? short : detail))
    }
    answer.status = unsafe ccurl_status(handle)
    return .success(answer)
  }

  // MARK: - Callbacks of libcurl

  private static func transfer(_ context: UnsafeMutableRawPointer?) -> WebTransfer? {
    unsafe context.map { unsafe Unmanaged<WebTransfer>.fromOpaque($0).takeUnretainedValue() }
  }

  private static func openSocket(
    _ context: UnsafeMutableRawPointer?, _ address: UnsafeMutablePointer<curl_sockaddr>?
  ) -> curl_socket_t {
    guard let address = unsafe address, let transfer = unsafe transfer(context) else { return -1 }
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = unsafe ccurl_peer(address, &bytes)
    let peer = PeerAddress(bytes: Array(bytes.prefix(Int(count))))
    // That of the last redirect.
    let url = unsafe ccurl_url(transfer.handle).map { unsafe String(cString: $0) } ?? ""
    guard transfer.reach.mayConnect(to: peer, for: url) else {
      transfer.refusedOrigin = WebAddress(url)?.origin ?? "another host"
      return -1
    }
    transfer.refusedOrigin = nil
    return unsafe ccurl_open_socket(address)
  }

  private static func takeHeader(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
  ) -> Int {
    let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    guard let transfer = unsafe transfer(context) else { return 0 }
    let text = unsafe String(decoding: line, as: UTF8.self)
    // The body of a redirect is not part of the response.
    if text.hasPrefix("HTTP/") { transfer.answer.body.removeAll() }
    transfer.answer.headers.add(text)
    return size * count
  }

  /// Returning less than `size * count` ends the transfer.
  private static func takeBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
  ) -> Int {
    let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    guard let transfer = unsafe transfer(context) else { return 0 }
    guard transfer.answer.body.count + piece.count <= transfer.limitBytes else {
      transfer.isTooLong = true
      return 0
    }
    unsafe transfer.answer.body.append(contentsOf: piece)
    return size * count
  }
}
