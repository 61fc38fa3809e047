/// The receiver of a client's events. Called on the loop's thread, never while another call for the
/// same client is in progress; every method of the client may be called within.
public protocol ClientHandler: AnyObject {
  /// Reports an event.
  func client(_ client: Client, _ event: ClientEvent)

  /// Passes on a message of the relay as received: one JSON object, possibly of a type that this
  /// library does not know. Called before the event that results from it. Duplicate entries, and
  /// entries of a cursor that was replaced, are left out.
  func client(_ client: Client, received json: Span<UInt8>)
}

extension ClientHandler {
  /// Does nothing: most handlers do not need the raw messages.
  public func client(_ client: Client, received json: Span<UInt8>) {}
}
