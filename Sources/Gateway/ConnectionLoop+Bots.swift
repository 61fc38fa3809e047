import Relay
import WebSocket

/// Bots come through the same door as sockets: a session, and frames out of it.
extension ConnectionLoop {
  /// More messages than this that the relay has yet to take, and the bot is told nothing further: so
  /// one that answers everything waits as any client that is slowed.
  static let botInboxLimit = 256

  func connect(_ bot: any BotEnd) {
    guard shutdown == nil else {
      bot.close()
      return
    }
    let index = addConnection()
    connections[index].phase = .open
    connections[index].bot = bot
    connections[index].isIdentified = true
    let session = shard.open(connection: Int32(index), now: now)
    connections[index].session = session
    botConnections[ObjectIdentifier(bot)] = Int32(index)
    shard.identify(session, as: bot.user, now: now)
  }

  func receive(_ json: [UInt8], from bot: any BotEnd) {
    guard let index = botConnections[ObjectIdentifier(bot)].map(Int.init) else { return }
    connections[index].inbox.append(json)
    takeBotInbox(index)
  }

  func takeBotInbox(_ index: Int) {
    guard let session = connections[index].session else { return }
    let messages = connections[index].inbox
    connections[index].isInboxSlowed = false
    var taken = 0
    while taken < messages.count {
      guard shard.mayReceive(session, now: now) else {
        connections[index].isPaused = true
        connections[index].isInboxSlowed = shard.isSlowed(session)
        break
      }
      let message = messages[taken]
      shard.receive(session, message.span, now: now)
      taken += 1
    }
    connections[index].inbox.removeFirst(taken)
    if connections[index].inbox.count <= Self.botInboxLimit / 2 || !connections[index].isInboxSlowed
    {
      release(index, session)
    }
  }

  /// The bot is told things again.
  private func release(_ index: Int, _ session: SessionID) {
    guard connections[index].isHeld else { return }
    connections[index].isHeld = false
    shard.unblock(session)
  }

  /// A bot that was slowed may by now be held up by answers that it is not told.
  func sweepBot(_ index: Int) {
    guard let session = connections[index].session, connections[index].isInboxSlowed,
      !shard.isSlowed(session)
    else { return }
    connections[index].isInboxSlowed = false
    release(index, session)
  }

  func drained(_ bot: any BotEnd) {
    guard let index = botConnections[ObjectIdentifier(bot)].map(Int.init),
      let session = connections[index].session
    else { return }
    shard.unblock(session)
  }

  func gone(_ bot: any BotEnd) {
    guard let index = botConnections[ObjectIdentifier(bot)] else { return }
    remove(Int(index))
  }
}
