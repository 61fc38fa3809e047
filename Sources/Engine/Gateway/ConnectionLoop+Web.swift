import Relay
import WebSocket

/// The web page: files that are in memory.
extension ConnectionLoop {
  /// Answers with a file. Such requests are rate-limited by address, like all that are not
  /// authenticated.
  func serve(_ file: HTTPResponse, _ index: ConnectionSlot) {
    if let host = connections[index].host,
      let wait = context.fileBudgets.take(.request, bytes: 0, from: host, now: now.monotonic)
    {
      context.violations.note(.requestsPerSecond)
      return finish(index, Self.tooManyRequests(wait).response)
    }
    finish(index, file)
  }
}
