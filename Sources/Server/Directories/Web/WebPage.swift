internal import Platform

/// One request of a command, whose process has nothing else to do.
package enum WebPage {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
    /// The errno, if the Unix socket cannot be connected to.
    package var socketError: Int32?
  }

  /// The size beyond which an answer is refused.
  private static let limitBytes = 1_048_576

  /// Requests a page, without following redirects. The certificate of a host on this machine is not
  /// verified: it is usually for another name, and the connection does not leave the machine.
  /// - Parameters:
  ///   - method: instead of GET or POST.
  ///   - headers: `Name: value`, without line breaks.
  ///   - content: posted, if it is not `nil`.
  ///   - unixSocket: the path of a Unix socket to connect to, instead of the URL's host.
  package static func get(
    _ url: String, method: String? = nil, headers: [String] = [], content: String? = nil,
    unixSocket: String? = nil
  ) throws(Failure) -> (status: Int, body: [UInt8]) {
    var options = WebOptions(WebReach(origin: WebAddress(url)?.origin))
    options.isOfCommand = true
    let stop: StopSignal
    do { stop = try StopSignal() } catch { throw Failure(description: "\(error)") }
    var request = WebRequest(url: url)
    request.method = method
    request.headers = headers
    request.content = content
    request.unixSocket = unixSocket
    request.limitBytes = limitBytes
    do {
      let answer = try WebClient(options, wakeDescriptor: stop.descriptor)
        .perform(request, until: stop)
      return (answer.status, answer.body)
    } catch {
      switch error {
      case .network(_, let detail, let socketError):
        throw Failure(description: detail, socketError: socketError)
      case .tooLong(let limitBytes):
        throw Failure(description: "the answer is longer than \(limitBytes) bytes")
      case .refused(let origin): throw Failure(description: "\(origin) is not a public address")
      case .stopped: throw Failure(description: "stopped")
      }
    }
  }
}
