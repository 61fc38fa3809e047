/// The header of a frame (RFC 6455 §5.2): the 2 to 14 bytes before the payload.
public struct FrameHeader: Equatable, Sendable {
  /// Whether this is the last frame of its message.
  public var fin: Bool
  /// Whether RSV1 is set: the message that begins with this frame is compressed (RFC 7692 §6).
  public var rsv1: Bool
  /// The type of the frame.
  public var opcode: Opcode
  /// The mask of the payload, its first byte on the wire in the lowest bits; `nil` if unmasked.
  public var maskKey: UInt32?
  /// The declared length of the payload in bytes, all of which may never arrive.
  public var payloadLength: Int

  /// The maximum length of a header in bytes.
  public static let longestBytes = 14

  /// Creates a header to send. Checks only that the length is not negative.
  public init(
    fin: Bool = true, rsv1: Bool = false, opcode: Opcode, maskKey: UInt32? = nil,
    payloadLength: Int
  ) {
    precondition(payloadLength >= 0, "a length is not negative")
    self.fin = fin
    self.rsv1 = rsv1
    self.opcode = opcode
    self.maskKey = maskKey
    self.payloadLength = payloadLength
  }

  /// Reads the header at the beginning of `bytes`; returns `nil` until all of it has arrived.
  ///
  /// A violation is reported at the first byte that shows it, and does not depend on how the bytes
  /// were split.
  /// - Parameters:
  ///   - role: of the reader: a server requires the mask, a client rejects it.
  ///   - payloadLimitBytes: checked against the declared length, before anything is buffered; 0 =
  ///     no limit.
  ///   - allowsRSV1: whether compression was negotiated: RSV1 may then be set at the beginning of a
  ///     message, and nowhere else (RFC 7692 §6).
  public static func read(
    _ bytes: Span<UInt8>, as role: Role, payloadLimitBytes: Int, allowsRSV1: Bool = false
  ) throws(ProtocolViolation) -> FrameHeader? {
    guard bytes.count > 0 else { return nil }
    let first = bytes[0]
    guard first & 0x70 == 0 || allowsRSV1 && first & 0x30 == 0 else { throw .reservedBits }
    guard let opcode = Opcode(rawValue: first & 0x0F) else { throw .reservedOpcode(first & 0x0F) }
    let rsv1 = first & 0x40 != 0
    guard !rsv1 || opcode == .text || opcode == .binary else { throw .reservedBits }
    let fin = first & 0x80 != 0
    guard fin || !opcode.isControl else { throw .controlFragmented }

    guard bytes.count > 1 else { return nil }
    let masked = bytes[1] & 0x80 != 0
    switch role {
    case .server: guard masked else { throw .maskMissing }
    case .client: guard !masked else { throw .maskUnexpected }
    }
    let shortLength = bytes[1] & 0x7F
    guard !opcode.isControl || shortLength <= 125 else { throw .controlTooLong }

    var end = 2
    let length: UInt64
    switch shortLength {
    case 126:
      guard bytes.count >= 4 else { return nil }
      length = UInt64(UInt16(bigEndian: load(bytes, at: 2)))
      end = 4
      guard length > 125 else { throw .lengthNotMinimal }
    case 127:
      guard bytes.count >= 10 else { return nil }
      length = UInt64(bigEndian: load(bytes, at: 2))
      end = 10
      guard length > UInt16.max else { throw .lengthNotMinimal }
    default:
      length = UInt64(shortLength)
    }
    guard let payloadLength = Int(exactly: length) else { throw .lengthHighBit }
    guard payloadLimitBytes == 0 || payloadLength <= payloadLimitBytes else {
      throw .frameTooBig(limitBytes: payloadLimitBytes)
    }

    var maskKey: UInt32?
    if masked {
      guard bytes.count >= end + 4 else { return nil }
      maskKey = UInt32(littleEndian: load(bytes, at: end))
    }
    return FrameHeader(
      fin: fin, rsv1: rsv1, opcode: opcode, maskKey: maskKey, payloadLength: payloadLength)
  }

  /// The length of the header in bytes: 2 to 14.
  public var headerLength: Int {
    let lengthBytes =
      switch payloadLength {
      case ...125: 0
      case ...0xFFFF: 2
      default: 8
      }
    return 2 + lengthBytes + (maskKey == nil ? 0 : 4)
  }

  /// Appends the header with the shortest encoding of its length.
  public func append(to output: inout [UInt8]) {
    output.append((fin ? 0x80 : 0) | (rsv1 ? 0x40 : 0) | opcode.rawValue)
    let maskBit: UInt8 = maskKey == nil ? 0 : 0x80
    switch payloadLength {
    case ...125:
      output.append(maskBit | UInt8(payloadLength))
    case ...0xFFFF:
      output.append(maskBit | 126)
      output.append(UInt8(payloadLength >> 8))
      output.append(UInt8(payloadLength & 0xFF))
    default:
      output.append(maskBit | 127)
      for shift in stride(from: 56, through: 0, by: -8) {
        output.append(UInt8(truncatingIfNeeded: payloadLength >> shift))
      }
    }
    if let maskKey {
      for shift in stride(from: 0, through: 24, by: 8) {
        output.append(UInt8(truncatingIfNeeded: maskKey >> shift))
      }
    }
  }

  private static func load<Value: FixedWidthInteger & BitwiseCopyable>(
    _ bytes: Span<UInt8>, at offset: Int
  ) -> Value {
    unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Value.self)
  }
}
