internal import CCurl

/// Options that apply to every request.
struct WebOptions: Sendable {
  var userAgent = "relay"
  var connectTimeoutMilliseconds = 10_000
  /// From the start of a request to the end of its response.
  var timeoutMilliseconds = 30_000
  var reach: WebReach
  /// If not, a redirect is the answer.
  var followsRedirects = true
  /// See `WebPage`.
  var isOfCommand = false

  init(_ reach: WebReach) { self.reach = reach }
}

/// An HTTP client based on libcurl: several concurrent requests, reused connections, and one
/// descriptor that ends every wait. Confined to one thread.
///
/// libcurl reads `https_proxy` and the like from the environment; proxies are not used for this
/// machine.
@safe final class WebClient {
  private let multi: UnsafeMutableRawPointer
  private let options: WebOptions
  private let wakeDescriptor: Int32
  private var transfers: [UInt: WebTransfer] = [:]

  /// Initialized once, before any handle is created.
  private static let isStarted: Bool = ccurl_start() == CURLE_OK

  /// - Parameter wakeDescriptor: `wait` returns when it is readable.
  init(_ options: WebOptions, wakeDescriptor: Int32) {
    precondition(Self.isStarted, "libcurl cannot start")
    guard let multi = unsafe curl_multi_init() else { fatalError("libcurl: out of memory") }
    unsafe self.multi = multi
    self.options = options
    self.wakeDescriptor = wakeDescriptor
  }

  deinit {
    transfers.values.forEach { unsafe curl_multi_remove_handle(multi, $0.handle) }
    unsafe curl_multi_cleanup(multi)
  }

  var isIdle: Bool { transfers.isEmpty }

  /// Starts a request; `wait` returns its response.
  func start(_ request: WebRequest) -> WebTransfer {
    let transfer = WebTransfer(request, options)
    unsafe transfers[UInt(bitPattern: transfer.handle)] = transfer
    unsafe curl_multi_add_handle(multi, transfer.handle)
    return transfer
  }

  /// Waits for a response, for the descriptor to be readable, or for the timeout.
  /// - Returns: the requests that have completed.
  func wait(milliseconds: Int32) -> [(
    transfer: WebTransfer, outcome: Result<WebAnswer, WebFailure>
  )] {
    var running: Int32 = 0
    unsafe curl_multi_perform(multi, &running)
    let ended = takeEnded()
    guard ended.isEmpty else { return ended }
    var wake = curl_waitfd(fd: wakeDescriptor, events: Int16(CURL_WAIT_POLLIN), revents: 0)
    unsafe curl_multi_poll(multi, &wake, 1, milliseconds, nil)
    unsafe curl_multi_perform(multi, &running)
    return takeEnded()
  }

  /// Performs one request and returns its response.
  func perform(_ request: WebRequest, until stop: StopSignal) throws(WebFailure) -> WebAnswer {
    let own = start(request)
    while !stop.isRaised {
      for (transfer, outcome) in wait(milliseconds: 1000) where transfer === own {
        return try outcome.get()
      }
    }
    end(own)
    throw .stopped
  }

  private func end(_ transfer: WebTransfer) {
    unsafe curl_multi_remove_handle(multi, transfer.handle)
    unsafe transfers[UInt(bitPattern: transfer.handle)] = nil
  }

  private func takeEnded() -> [(transfer: WebTransfer, outcome: Result<WebAnswer, WebFailure>)] {
    var ended: [(transfer: WebTransfer, outcome: Result<WebAnswer, WebFailure>)] = []
    while true {
      var handle: UnsafeMutableRawPointer?
      let code = unsafe ccurl_next_ended(multi, &handle)
      guard code >= 0, let handle = unsafe handle else { return ended }
      guard let transfer = transfers[UInt(bitPattern: handle)] else { continue }
      ended.append((transfer, transfer.outcome(CURLcode(UInt32(code)))))
      end(transfer)
    }
  }

  /// Parses an HTTP date (RFC 9110 §5.6.7), to milliseconds since 1970.
  static func date(_ text: String) -> Int64? {
    let seconds = unsafe curl_getdate(text, nil)
    return seconds < 0 ? nil : Int64(seconds) * 1000
  }
}
