internal import Platform
internal import Wire

/// The conventions of a service that its requests depend on.
struct ServiceManners: Sendable {
  /// The name used in messages, such as `GitHub`.
  var name: String
  /// Sent with every request.
  var headers: [String]
  var limitPrefix: String
  /// The response header with the service's request id, for support.
  var supportHeader: String
  /// Extracts the error message from a response.
  var message: @Sendable (JSONNode) -> String?
}

/// Sends requests to one service, one at a time: adds credentials, observes the rate limits, and
/// converts every error to a `FetchError`. Confined to the directory's thread.
final class Exchange {
  let stop: StopSignal
  var limits: RateLimits
  private let manners: ServiceManners
  private let client: WebClient
  private let base: WebAddress
  private var credentials: any Credentials

  init(
    _ manners: ServiceManners, base: WebAddress, credentials: any Credentials,
    client: WebClient, limits: RateLimits, stop: StopSignal
  ) {
    self.manners = manners
    self.base = base
    self.credentials = credentials
    self.client = client
    self.limits = limits
    self.stop = stop
  }

  /// Gets a page: 200, or 304 if `etag` still matches.
  /// - Parameter bucket: the name shared by the requests that have one rate limit in common.
  func get(_ url: String, etag: String? = nil, bucket: String) throws(FetchError) -> WebAnswer {
    guard let address = WebAddress(url) else {
      throw .failed(
        FetchError.Failure(
          text: "\(manners.name) returned a next page that is not an http or https address.",
          isLost: true))
    }
    var isRepeated = false
    while true {
      // Pages may link to other origins, but the token is only sent to its own service.
      let token = address.origin == base.origin ? try credentials.token(self) : nil
      var headers = manners.headers
      if let token { headers.append("Authorization: Bearer \(token)") }
      if let etag { headers.append("If-None-Match: \(etag)") }
      let answer = try perform(WebRequest(url: url, headers: headers), bucket)
      if answer.status == 401, token != nil, !isRepeated, credentials.wasRefused() {
        isRepeated = true
        continue
      }
      guard answer.status == 200 || answer.status == 304 && etag != nil else {
        throw .failed(refusal(answer))
      }
      return answer
    }
  }

  /// Sends a form with its own credentials, and returns the answer if its status is 200.
  func post(_ request: WebRequest, bucket: String) throws(FetchError) -> WebAnswer {
    var request = request
    request.headers += manners.headers
    let answer = try perform(request, bucket)
    guard answer.status == 200 else { throw .failed(refusal(answer)) }
    return answer
  }

  /// Parses an answer's body as JSON.
  func json(_ answer: WebAnswer) throws(FetchError) -> JSONNode {
    guard let json = JSONNode(answer.body) else {
      throw failure("\(manners.name) returned a response that is not JSON.", answer)
    }
    return json
  }

  /// Returns a failure with the request id of an answer.
  func failure(_ text: String, _ answer: WebAnswer, detail: String? = nil) -> FetchError {
    .failed(text, support: support(answer), detail: detail)
  }

  private func perform(_ request: WebRequest, _ bucket: String) throws(FetchError) -> WebAnswer {
    if let limit = limits.limit(bucket, now: WallClock.milliseconds) { throw .limited(limit) }
    let answer: WebAnswer
    do throws(WebFailure) {
      answer = try client.perform(request, until: stop)
    } catch {
      switch error {
      case .stopped: throw .stopped
      case .tooLong(let limitBytes):
        throw .failed("\(manners.name) returned more than \(limitBytes >> 20) MiB.")
      case .refused(let origin):
        throw .failed(
          FetchError.Failure(
            text:
              "\(manners.name) leads to \(origin), which is neither the configured address nor a "
              + "public one.", isLost: true))
      case .network(let text, let detail, _):
        throw .failed("\(manners.name) cannot be reached: \(text).", detail: detail)
      }
    }
    let now = WallClock.milliseconds
    if limits.isLimit(answer, saying: message(answer)) {
      throw .limited(limits.recordRefused(answer, bucket, now: now))
    }
    if answer.status < 400 { limits.recordServed(answer.headers, bucket, now: now) }
    return answer
  }

  // MARK: - Refusals

  private func refusal(_ answer: WebAnswer) -> FetchError.Failure {
    let name = manners.name
    let said = message(answer).map { ": \($0)" } ?? ""
    let text =
      switch answer.status {
      case 401: "\(name) rejected the credentials"
      case 403: "\(name) denied access\(said)"
      case 404: "\(name) did not find the source"
      case 500...599: "\(name) reported a server error"
      default: "\(name) returned an unexpected status\(said)"
      }
    // Other 4xx statuses may mean that the URL of the page is no longer valid.
    let isLost = (400...499).contains(answer.status) && ![401, 403].contains(answer.status)
    return FetchError.Failure(
      text: "\(text) (\(answer.status)).", support: support(answer),
      detail: message(answer), isLost: isLost)
  }

  private func support(_ answer: WebAnswer) -> String? {
    answer.headers[manners.supportHeader].flatMap(Listing.shown)
  }

  private func message(_ answer: WebAnswer) -> String? {
    guard answer.status >= 400 else { return nil }
    return JSONNode(answer.body).flatMap(manners.message).flatMap(Listing.shown).map {
      $0.last == "." ? String($0.dropLast()) : $0
    }
  }
}
