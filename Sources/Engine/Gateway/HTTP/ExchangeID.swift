/// One HTTP request of one loop, as other threads name it: its connection may have another one, or
/// another client, when their answer comes.
package struct ExchangeID: Equatable, Sendable {
  var loop: Int
  /// The stream of its connection.
  var stream: Int
  /// Distinguishes it from the other exchanges of its loop.
  var serial: UInt64
}
