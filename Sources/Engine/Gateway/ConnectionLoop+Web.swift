import Relay
import WebSocket

/// The web page: files that are in memory.
extension ConnectionLoop {
  /// Answers with what is for everybody. Such requests are rate-limited by address.
  func finishOpenly(_ response: HTTPResponse, _ index: ConnectionSlot) {
    let problem = chargeAddress(of: index, in: context.fileBudgets, .requestsPerSecond)
    finish(index, problem?.response ?? response)
  }
}
