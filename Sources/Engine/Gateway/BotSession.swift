/// A bot, as its loop knows it. Confined to its loop's thread.
final class BotSession {
  let end: any BotEnd
  /// Messages that the relay may not yet take.
  var inbox: [[UInt8]] = []
  /// The inbox waits for the budget of the bot's user.
  var isInboxSlowed = false
  /// The bot is told nothing until its inbox is shorter.
  var isHeld = false

  init(_ end: any BotEnd) { self.end = end }
}
