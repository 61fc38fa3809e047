import Relay
import WebSocket

/// Bots use sessions as clients do; their messages bypass sockets.
extension ConnectionLoop {
  /// If a slowed bot has more messages than this in its inbox, it receives nothing further: so a
  /// bot that answers every message waits like any client that is slowed.
  static let botInboxLimit = 256

  func connect(_ bot: any BotEnd) {
    guard shutdown == nil else {
      bot.close()
      return
    }
    let connection = addConnection(.bot(BotSession(bot)))
    connection.isAuthenticated = true
    let session = openSession(for: connection)
    botConnections[ObjectIdentifier(bot)] = connection
    shard.identify(session, as: bot.user, now: now)
  }

  func receive(_ json: [UInt8], from bot: any BotEnd) {
    guard let connection = botConnections[ObjectIdentifier(bot)] else { return }
    connection.bot?.inbox.append(json)
    takeBotInbox(connection)
  }

  func takeBotInbox(_ connection: ServerConnection) {
    guard let bot = connection.bot, let session = connection.session else { return }
    let messages = bot.inbox
    bot.isInboxSlowed = false
    var taken = 0
    while taken < messages.count {
      guard shard.mayReceive(session, now: now) else {
        connection.isPaused = true
        bot.isInboxSlowed = shard.isSlowed(session)
        break
      }
      let message = messages[taken]
      shard.receive(session, message.span, now: now)
      taken += 1
    }
    bot.inbox.removeFirst(taken)
    if bot.inbox.count <= Self.botInboxLimit / 2 || !bot.isInboxSlowed { release(bot, session) }
  }

  /// Sends messages to the bot, unless its inbox has to shrink first.
  /// - Returns: whether it accepted them.
  func tell(_ bot: BotSession, _ messages: [InternalMessage]) -> Bool {
    if bot.isInboxSlowed, bot.inbox.count > Self.botInboxLimit {
      bot.isHeld = true
      return false
    }
    return bot.end.take(messages)
  }

  /// Lets the bot receive again.
  private func release(_ bot: BotSession, _ session: SessionID) {
    guard bot.isHeld else { return }
    bot.isHeld = false
    shard.unblock(session)
  }

  /// Checks whether a bot that was slowed can receive again: its inbox may now wait for answers
  /// that are being withheld from it.
  func sweepBot(_ bot: BotSession, _ connection: ServerConnection) {
    guard let session = connection.session, bot.isInboxSlowed, !shard.isSlowed(session)
    else { return }
    bot.isInboxSlowed = false
    release(bot, session)
  }

  func drained(_ bot: any BotEnd) {
    guard let connection = botConnections[ObjectIdentifier(bot)],
      let session = connection.session
    else { return }
    shard.unblock(session)
  }

  func botDisconnected(_ bot: any BotEnd) {
    guard let connection = botConnections[ObjectIdentifier(bot)] else { return }
    remove(connection, "the bot closed the connection")
  }
}
