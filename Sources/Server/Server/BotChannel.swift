import Bots
import DequeModule
import Gateway
import Platform
import Synchronization
import WebSocket

/// A bot's connection, which carries the same bytes as a socket.
///
/// The loop writes frames to it as to a socket; a bot that does not read is a client that does not
/// read. Shared by the loop and the bot.
final class BotChannel: BotEnd {
  /// The limit of queued messages; beyond it the loop sees a full socket.
  static let queueBytes = 262_144

  fileprivate struct State {
    var webSocket = WebSocket.Connection(
      role: .client, limits: WebSocket.Limits(frameBytes: 0, messageBytes: 0, fragments: 0))
    var messages = Deque<[UInt8]>()
    var queuedBytes = 0
    var isFull = false
    var isClosed = false
    var waiter: CheckedContinuation<[UInt8]?, Never>?
  }

  let user: String
  private let mailbox: Mailbox<LoopMessage>
  private let state = Mutex(State())

  init(user: String, mailbox: Mailbox<LoopMessage>) {
    self.user = user
    self.mailbox = mailbox
  }

  // MARK: - The loop's side

  /// Accepts a write as a socket does: all of it, or nothing if the queue is full.
  func write(_ bytes: Span<UInt8>) -> Int {
    var input: [UInt8] = []
    unsafe bytes.withUnsafeBufferPointer { unsafe input.append(contentsOf: $0) }
    let resumption = state.withLock {
      state -> (CheckedContinuation<[UInt8]?, Never>, [UInt8])? in
      if state.isClosed { return nil }
      if state.queuedBytes > Self.queueBytes {
        state.isFull = true
        input = []
        return nil
      }
      state.take(&input)
      return state.resumption()
    }
    resumption.map { $0.0.resume(returning: $0.1) }
    return input.isEmpty ? 0 : bytes.count
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

  fileprivate func receive() async -> [UInt8]? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (message, isOver, drained) = state.withLock { state in
          if let message = state.messages.popFirst() {
            state.queuedBytes -= message.count
            let drained = state.isFull && state.queuedBytes < Self.queueBytes / 2
            if drained { state.isFull = false }
            return (message as [UInt8]?, false, drained)
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
  /// Decodes the messages in frames; the relay's own output cannot violate the protocol.
  fileprivate mutating func take(_ input: inout [UInt8]) {
    var offset = 0
    var output: [UInt8] = []
    var span = input.mutableSpan
    while let event = try? webSocket.next(
      in: &span, at: &offset, output: &output, maskKey: { 0 })
    {
      switch event {
      case .message(_, .input(let range)):
        var message: [UInt8] = []
        unsafe span.span.extracting(range).withUnsafeBufferPointer {
          unsafe message.append(contentsOf: $0)
        }
        queue(message)
      case .message(_, .assembled): queue(webSocket.assembled)
      case .close: isClosed = true
      case .ping, .pong: break
      }
    }
  }

  private mutating func queue(_ message: [UInt8]) {
    messages.append(message)
    queuedBytes += message.count
  }

  /// Returns the waiting receiver and its message, if there are both.
  fileprivate mutating func resumption() -> (CheckedContinuation<[UInt8]?, Never>, [UInt8])? {
    guard let waiter, let message = messages.popFirst() else { return nil }
    self.waiter = nil
    queuedBytes -= message.count
    return (waiter, message)
  }
}

/// The bot's end; the connection closes when it is deinitialized.
final class BotLine: BotConnection {
  private let channel: BotChannel

  init(_ channel: BotChannel) { self.channel = channel }

  deinit { channel.end() }

  func send(_ json: [UInt8]) { channel.send(json) }

  func receive() async -> [UInt8]? { await channel.receive() }
}
