/// The state of a bot's connection in its loop. Confined to the loop's thread.
final class BotSession {
  let end: any BotEnd
  /// Messages that the shard does not accept yet.
  var inbox: [[UInt8]] = []
  /// The inbox waits for the rate limits of the bot's user.
  var isInboxSlowed = false
  /// The bot receives nothing until its inbox is shorter.
  var isHeld = false

  init(_ end: any BotEnd) { self.end = end }
}
