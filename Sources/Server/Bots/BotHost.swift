public import Wire

/// One bot's connection, with the capabilities of a socket client and no more.
///
/// It ends when the relay closes it or when its last reference is released.
public protocol BotConnection: Sendable {
  /// Sends one message; discards it after the connection has ended.
  func send(_ message: ClientMessage)

  /// Returns the next message from the relay; `nil` when the connection is closed or the calling
  /// task is cancelled. One task at a time may call it.
  func receive() async -> ServerMessage?
}

/// Connects bots to the relay.
public protocol BotHost: Sendable {
  /// Returns a connection whose first message is `welcome`; `nil` when the host shuts down.
  func connect(as user: String) async -> (any BotConnection)?
}
