/// The relay's end of a connection to a bot. A bot that does not accept its messages is treated as
/// a client that does not read.
package protocol BotEnd: AnyObject, Sendable {
  /// The user name of the bot.
  var user: String { get }
  /// Accepts all of the messages, or none if its queue is full.
  /// - Returns: whether it accepted them.
  func take(_ messages: [InternalMessage]) -> Bool
  /// Tells the bot that the connection has ended.
  func close()
}
