package import Platform

/// Requests to the servers that an operator has configured, one at a time. No redirect is followed. Confined
/// to one thread, except `stop`.
package final class WebCaller {
  package struct Failure: Error, Sendable {
    /// For the operator.
    package let description: String
  }

  private let client: WebClient
  private let signal: StopSignal
  private let limitBytes: Int

  /// - Parameters:
  ///   - origins: may have any address; others must be public.
  ///   - timeoutMilliseconds: from the start of a request to the end of its response.
  ///   - limitBytes: longer answers are failures.
  package init(
    origins: Set<String>, userAgent: String, timeoutMilliseconds: Int, limitBytes: Int
  ) throws(SystemError) {
    var options = WebOptions(WebReach(origins: origins))
    options.userAgent = userAgent
    options.connectTimeoutMilliseconds = timeoutMilliseconds
    options.timeoutMilliseconds = timeoutMilliseconds
    options.followsRedirects = false
    signal = try StopSignal()
    client = WebClient(options, wakeDescriptor: signal.descriptor)
    self.limitBytes = limitBytes
  }

  /// - Parameters:
  ///   - headers: `Name: value`, without line breaks.
  ///   - content: sent by POST; `nil` = a GET.
  package func perform(
    _ url: String, headers: [String], content: String?
  ) throws(Failure) -> (status: Int, body: [UInt8]) {
    var request = WebRequest(url: url)
    request.headers = headers
    request.content = content
    request.limitBytes = limitBytes
    do throws(WebFailure) {
      let answer = try client.perform(request, until: signal)
      return (answer.status, answer.body)
    } catch {
      switch error {
      case .network(_, let detail, _): throw Failure(description: detail)
      case .tooLong(let limit):
        throw Failure(description: "the answer is longer than \(limit) bytes")
      case .refused(let origin):
        throw Failure(description: "\(origin) is neither configured nor a public address")
      case .stopped: throw Failure(description: "the relay stops")
      }
    }
  }
}
