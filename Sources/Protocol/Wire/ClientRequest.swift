/// A message from a client with the name that the client gave it.
public struct ClientRequest: Equatable, Sendable {
  public var message: ClientMessage
  /// What answers the request carries it back: 1 to 64 printable ASCII characters.
  public var ref: String?

  public init(_ message: ClientMessage, ref: String? = nil) {
    self.message = message
    self.ref = ref
  }
}
