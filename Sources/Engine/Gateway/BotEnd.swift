/// The relay's end of a connection to a bot. A bot that does not accept its frames is treated as a
/// client that does not read.
package protocol BotEnd: AnyObject, Sendable {
  /// The user name of the bot.
  var user: String { get }
  /// Accepts frames as a socket does: all of them, or nothing if its buffer is full.
  /// - Returns: the number of accepted bytes.
  func write(_ frames: Span<UInt8>) -> Int
  /// Tells the bot that the connection has ended.
  func close()
}
