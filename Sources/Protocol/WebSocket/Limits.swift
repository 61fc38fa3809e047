/// The limits of a connection for input from its peer; 0 = no limit.
public struct Limits: Equatable, Sendable {
  /// The maximum length of a frame's payload, checked against the length that its header declares.
  public var frameBytes: Int
  /// The maximum length of a message, all fragments together, checked against each header as it
  /// arrives.
  public var messageBytes: Int
  /// The maximum number of frames in one message. Bytes alone do not bound the work, because
  /// fragments may be empty.
  public var fragments: Int

  /// Creates limits in bytes and in frames per message; 0 = no limit.
  public init(frameBytes: Int, messageBytes: Int, fragments: Int) {
    precondition(frameBytes >= 0 && messageBytes >= 0 && fragments >= 0, "limits are not negative")
    self.frameBytes = frameBytes
    self.messageBytes = messageBytes
    self.fragments = fragments
  }
}
