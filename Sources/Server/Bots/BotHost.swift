/// One bot's connection: what a socket client has, no more.
///
/// The connection ends when the relay closes it or when its last reference is gone.
public protocol BotConnection: Sendable {
  /// Hands over one relay.v1 message; after the end it goes nowhere.
  func send(_ json: [UInt8])

  /// The next message from the relay; `nil` once the connection is closed or the calling task is
  /// cancelled. One task at a time may ask.
  func receive() async -> [UInt8]?
}

/// Where bots connect.
public protocol BotHost: Sendable {
  /// A connection on which `welcome` is the first message; `nil` when the host shuts down.
  func connect(as user: String) async -> (any BotConnection)?
}
