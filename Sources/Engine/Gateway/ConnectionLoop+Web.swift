import Relay
import WebSocket

/// The web page: files that are in memory.
extension ConnectionLoop {
  /// Answers with a file. Such requests are rate-limited by address, like all that are not
  /// authenticated.
  func serve(_ file: HTTPResponse, _ index: ConnectionSlot) {
    finish(index, chargeAddress(of: index, in: context.fileBudgets)?.response ?? file)
  }
}
