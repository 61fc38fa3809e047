/// What one connection accepts from its peer; 0 means no limit.
public struct Limits: Equatable, Sendable {
  /// The longest payload of one frame, held against the length that its header declares.
  public var frameBytes: Int
  /// The longest message, all fragments together, held against each header as it comes.
  public var messageBytes: Int
  /// The most frames in one message. Bytes alone do not bound the work: fragments may be empty.
  public var fragments: Int

  /// Limits in bytes and in frames per message; 0 means no limit.
  public init(frameBytes: Int, messageBytes: Int, fragments: Int) {
    precondition(frameBytes >= 0 && messageBytes >= 0 && fragments >= 0, "limits are not negative")
    self.frameBytes = frameBytes
    self.messageBytes = messageBytes
    self.fragments = fragments
  }
}
