package import Relay

/// Observes the connections of a loop, by their indices in its table.
package protocol LoopObserver: AnyObject {
  /// Called before a message is processed.
  func loopTakes(_ json: Span<UInt8>, from connection: Int, _ session: SessionID)
  /// Called when a connection is no longer read, and when it is read again.
  func loopPaused(_ connection: Int, _ isPaused: Bool)
}
