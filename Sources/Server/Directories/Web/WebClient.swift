internal import CCurl

/// What holds for every request.
struct WebOptions: Sendable {
  var userAgent = "relay"
  var connectTimeoutMilliseconds = 10_000
  /// From the start of a request to the end of its answer.
  var timeoutMilliseconds = 30_000
  /// Which hosts may be connected to, redirects and proxies included; `nil` = all. It is asked with the
  /// address that is connected to, so that no name leads elsewhere once it was looked at.
  var mayConnect: (@Sendable (PeerAddress) -> Bool)?
}

/// HTTP by libcurl for one thread, to which it is confined: several requests at once, connections
/// used again, and one descriptor that ends every wait.
///
/// libcurl reads `https_proxy` and its kin from the environment; they are not used for this machine.
@safe final class WebClient {
  private let multi: UnsafeMutableRawPointer
  private let options: WebOptions
  private let wakeDescriptor: Int32
  private var transfers: [UInt: WebTransfer] = [:]

  /// Once, before there is any handle.
  private static let isStarted: Bool = ccurl_start() == CURLE_OK

  /// - Parameter wakeDescriptor: `wait` returns while it is readable.
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

  /// Sends a request; `wait` has its answer.
  func start(_ request: WebRequest) -> WebTransfer {
    let transfer = WebTransfer(request, options)
    unsafe transfers[UInt(bitPattern: transfer.handle)] = transfer
    unsafe curl_multi_add_handle(multi, transfer.handle)
    return transfer
  }

  /// Sleeps until an answer is there, or the descriptor is readable, or time is up.
  /// - Returns: the requests that have ended.
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

  /// One request and its answer.
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

  /// A date of HTTP (RFC 9110 §5.6.7), in milliseconds since 1970.
  static func date(_ text: String) -> Int64? {
    let seconds = unsafe curl_getdate(text, nil)
    return seconds < 0 ? nil : Int64(seconds) * 1000
  }
}
