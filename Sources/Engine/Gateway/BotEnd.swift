/// The relay's end of a bot's connection. A bot that does not take what it is sent is a client that does
/// not read.
package protocol BotEnd: AnyObject, Sendable {
  /// Whom it speaks for.
  var user: String { get }
  /// Takes frames as a socket does: all of it, or nothing where it is full.
  /// - Returns: how many bytes were taken.
  func write(_ frames: Span<UInt8>) -> Int
  /// Nothing more comes.
  func close()
}
