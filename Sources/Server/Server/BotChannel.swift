import Bots
import DequeModule
import Gateway
import Platform
import Synchronization
import Wire

/// A bot's connection: a queue of messages to the bot, and the loop's mailbox for those from it.
///
/// The loop treats a bot that does not read like a client that does not read. Shared by the loop and
/// the bot.
final class BotChannel: BotEnd {
  /// The limit of queued messages; beyond it the loop has to wait.
  static let queueBytes = 262_144

  fileprivate typealias Waiter = CheckedContinuation<InternalMessage?, Never>

  fileprivate struct State {
    var messages = Deque<InternalMessage>()
    var queuedBytes = 0
    var isFull = false
    var isClosed = false
    var waiter: Waiter?
  }

  let user: String
  private let mailbox: Mailbox<LoopMessage>
  private let state = Mutex(State())

  init(user: String, mailbox: Mailbox<LoopMessage>) {
    self.user = user
    self.mailbox = mailbox
  }

  // MARK: - The loop's side

  func take(_ messages: [InternalMessage]) -> Bool {
    let (isTaken, resumption) = state.withLock { state -> (Bool, (Waiter, InternalMessage)?) in
      if state.isClosed { return (false, nil) }
      if state.queuedBytes > Self.queueBytes {
        state.isFull = true
        return (false, nil)
      }
      state.messages.append(contentsOf: messages)
      for message in messages { state.queuedBytes += message.json.count }
      return (true, state.resumption())
    }
    if let (waiter, message) = resumption { waiter.resume(returning: message) }
    return isTaken
  }

  func close() {
    let waiter = state.withLock { state in
      state.isClosed = true
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(returning: nil)
  }

  // MARK: - The bot's side

  fileprivate func send(_ json: [UInt8]) { mailbox.post(.fromBot(self, json)) }

  fileprivate func end() {
    close()
    mailbox.post(.botGone(self))
  }

  fileprivate func receive() async -> InternalMessage? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (message, isOver, drained) = state.withLock { state in
          if let message = state.popFirst() {
            let drained = state.isFull && state.queuedBytes < Self.queueBytes / 2
            if drained { state.isFull = false }
            return (message as InternalMessage?, false, drained)
          }
          if state.isClosed || Task.isCancelled { return (nil, true, false) }
          precondition(state.waiter == nil, "only one task may wait at a time")
          state.waiter = continuation
          return (nil, false, false)
        }
        if drained { mailbox.post(.botDrained(self)) }
        if message != nil || isOver { continuation.resume(returning: message) }
      }
    } onCancel: {
      let waiter = state.withLock { $0.waiter.take() }
      waiter?.resume(returning: nil)
    }
  }
}

extension BotChannel.State {
  fileprivate mutating func popFirst() -> InternalMessage? {
    guard let message = messages.popFirst() else { return nil }
    queuedBytes -= message.json.count
    return message
  }

  /// Returns the waiting receiver and its message, if there are both.
  fileprivate mutating func resumption() -> (BotChannel.Waiter, InternalMessage)? {
    guard let waiter, let message = popFirst() else { return nil }
    self.waiter = nil
    return (waiter, message)
  }
}

/// The bot's end; the connection closes when it is deinitialized.
final class BotLine: BotConnection {
  private let channel: BotChannel

  init(_ channel: BotChannel) { self.channel = channel }

  deinit { channel.end() }

  func send(_ message: ClientMessage) { channel.send(message.json) }

  func receive() async -> ServerMessage? {
    while let message = await channel.receive() {
      if let value = message.value { return value }
    }
    return nil
  }
}
