/// The limits of a connection for input from its peer; 0 = no limit.
///
/// Narrow, because every connection has a copy: a limit of 4 GiB or more counts as one byte less than
/// that.
public struct Limits: Equatable, Sendable {
  private let narrowFrameBytes: UInt32
  private let narrowMessageBytes: UInt32
  private let narrowFragments: UInt32

  /// The maximum length of a frame's payload, checked against the length that its header declares.
  public var frameBytes: Int { Int(narrowFrameBytes) }
  /// The maximum length of a message, all fragments together, checked against each header as it
  /// arrives.
  public var messageBytes: Int { Int(narrowMessageBytes) }
  /// The maximum number of frames in one message. Bytes alone do not bound the work, because
  /// fragments may be empty.
  public var fragments: Int { Int(narrowFragments) }

  /// Creates limits in bytes and in frames per message; 0 = no limit.
  public init(frameBytes: Int, messageBytes: Int, fragments: Int) {
    precondition(frameBytes >= 0 && messageBytes >= 0 && fragments >= 0, "limits are not negative")
    narrowFrameBytes = UInt32(clamping: frameBytes)
    narrowMessageBytes = UInt32(clamping: messageBytes)
    narrowFragments = UInt32(clamping: fragments)
  }
}
