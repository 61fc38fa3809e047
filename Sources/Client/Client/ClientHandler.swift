/// Whoever uses a client. Called on the loop's thread, never while another call for the same
/// client is under way; everything of the client may be used within.
public protocol ClientHandler: AnyObject {
  /// Something happened.
  func client(_ client: Client, _ event: ClientEvent)

  /// A message of the relay as it came: one JSON object, also of a type that this library does
  /// not know. Called before the event that follows from it; entries that are doubles, or come
  /// from a cursor that was replaced, are left out.
  func client(_ client: Client, received json: Span<UInt8>)
}

extension ClientHandler {
  /// Of no interest to most.
  public func client(_ client: Client, received json: Span<UInt8>) {}
}
