/// A rule of RFC 6455, or a limit of this endpoint, that the peer violated.
///
/// The connection accepts no more input; close it with ``closeCode``.
public enum ProtocolViolation: Error, Equatable, Sendable {
  /// RSV1, 2 or 3 is set, and no negotiated extension defines it there (§5.2).
  case reservedBits
  /// An opcode that is reserved for the future (§5.2).
  case reservedOpcode(UInt8)
  /// A client sent a frame without masking it (§5.1).
  case maskMissing
  /// A server masked a frame (§5.1).
  case maskUnexpected
  /// A length that is not in the shortest encoding (§5.2).
  case lengthNotMinimal
  /// A 64-bit length with its highest bit set (§5.2).
  case lengthHighBit
  /// A fragmented control frame (§5.5).
  case controlFragmented
  /// A control frame of more than 125 bytes (§5.5).
  case controlTooLong
  /// A continuation frame without a message to continue (§5.4).
  case unexpectedContinuation
  /// A new message before the last fragment of the previous one (§5.4).
  case unfinishedMessage
  /// A frame that declares more bytes than ``Limits/frameBytes`` (§10.4).
  case frameTooBig(limitBytes: Int)
  /// A message that exceeds ``Limits/messageBytes`` (§10.4).
  case messageTooBig(limitBytes: Int)
  /// A compressed message that is invalid or incomplete (RFC 7692 §7.2.2).
  case compressedDataInvalid
  /// There is no memory to decompress a message.
  case outOfMemory
  /// A message with more frames than ``Limits/fragments`` (§10.4).
  case tooManyFragments(limit: Int)
  /// A text message that is not UTF-8 (§8.1).
  case textNotUTF8
  /// A close frame of one byte: half of a code (§5.5.1).
  case closeCodeTruncated
  /// A close code that must not be sent (§7.4).
  case closeCodeInvalid(UInt16)
  /// The reason in a close frame is not UTF-8 (§5.5.1, §8.1).
  case closeReasonNotUTF8

  /// The code to close the connection with (§7.4.1).
  public var closeCode: CloseCode {
    switch self {
    case .reservedBits, .reservedOpcode, .maskMissing, .maskUnexpected, .lengthNotMinimal,
      .lengthHighBit, .controlFragmented, .controlTooLong, .unexpectedContinuation,
      .unfinishedMessage, .closeCodeTruncated, .closeCodeInvalid:
      .protocolError
    case .textNotUTF8, .closeReasonNotUTF8, .compressedDataInvalid: .invalidPayload
    case .frameTooBig, .messageTooBig: .tooBig
    case .tooManyFragments: .policyViolation
    case .outOfMemory: .internalError
    }
  }
}

extension ProtocolViolation: CustomStringConvertible {
  /// A sentence for a log or a close frame; at most 123 bytes, so that it fits into the latter.
  public var description: String {
    switch self {
    case .reservedBits: "a reserved bit is set without a negotiated extension that uses it"
    case .reservedOpcode(let opcode): "opcode \(opcode) is reserved"
    case .maskMissing: "a frame from the client is not masked"
    case .maskUnexpected: "a frame from the server is masked"
    case .lengthNotMinimal: "a frame's length is not encoded in the minimal number of bytes"
    case .lengthHighBit: "a frame's length has its highest bit set"
    case .controlFragmented: "a control frame is fragmented"
    case .controlTooLong: "a control frame is longer than 125 bytes"
    case .unexpectedContinuation: "a continuation frame without a message to continue"
    case .unfinishedMessage: "a new message began before the previous one ended"
    case .frameTooBig(let limit): "a frame is longer than \(limit) bytes"
    case .messageTooBig(let limit): "a message is longer than \(limit) bytes"
    case .compressedDataInvalid: "a compressed message cannot be decompressed"
    case .outOfMemory: "not enough memory to decompress a message"
    case .tooManyFragments(let limit): "a message has more than \(limit) fragments"
    case .textNotUTF8: "a text message is not valid UTF-8"
    case .closeCodeTruncated: "a close frame's code is truncated"
    case .closeCodeInvalid(let code): "close code \(code) must not be sent"
    case .closeReasonNotUTF8: "the reason in a close frame is not valid UTF-8"
    }
  }
}
