package import Relay

/// Is told what a loop does with its connections, by their places in its table.
package protocol LoopObserver: AnyObject {
  /// A message is about to be taken.
  func loopTakes(_ json: Span<UInt8>, from connection: Int, _ session: SessionID)
  /// A connection is not read any more, or is again.
  func loopPaused(_ connection: Int, _ isPaused: Bool)
}
