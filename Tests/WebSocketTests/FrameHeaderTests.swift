import Testing
import WebSocket

@Suite struct `Frame header, RFC 6455 §5.2` {
  func read(
    _ bytes: [UInt8], as role: Role = .client, payloadLimitBytes: Int = 0
  ) throws -> FrameHeader? {
    try FrameHeader.read(bytes.span, as: role, payloadLimitBytes: payloadLimitBytes)
  }

  @Test(
    arguments: [0, 1, 125, 126, 127, 65535, 65536, 1 << 32, Int.max],
    [nil, 0, 0x0102_0304, UInt32.max] as [UInt32?])
  func `a written header is read back, and one split at any byte only once it is whole`(
    length: Int, key: UInt32?
  ) throws {
    let header = FrameHeader(opcode: .binary, maskKey: key, payloadLength: length)
    var bytes: [UInt8] = []
    header.append(to: &bytes)
    #expect(bytes.count == header.headerLength)
    #expect(bytes.count <= FrameHeader.longestBytes)
    let role: Role = key == nil ? .client : .server
    for cut in 0..<bytes.count {
      #expect(try read(Array(bytes[..<cut]), as: role) == nil, "\(cut) bytes")
    }
    #expect(try read(bytes, as: role) == header)
    #expect(try read(bytes + [0xFF, 0xFF], as: role) == header)
  }

  @Test func `the bytes are those of the examples in §5․7`() throws {
    #expect(
      try read([0x81, 0x05, 0x48]) == FrameHeader(opcode: .text, payloadLength: 5))
    #expect(
      try read([0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F], as: .server)
        == FrameHeader(opcode: .text, maskKey: 0x3D21_FA37, payloadLength: 5))
    #expect(
      try read([0x01, 0x03]) == FrameHeader(fin: false, opcode: .text, payloadLength: 3))
    #expect(
      try read([0x82, 0x7E, 0x01, 0x00]) == FrameHeader(opcode: .binary, payloadLength: 256))
    #expect(
      try read([0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0])
        == FrameHeader(opcode: .binary, payloadLength: 65536))
  }

  @Test(arguments: [0x40, 0x20, 0x10] as [UInt8])
  func `reserved bits are refused at the first byte`(bit: UInt8) {
    #expect(throws: ProtocolViolation.reservedBits) { try read([0x81 | bit]) }
    #expect(throws: ProtocolViolation.reservedBits) { try read([0x89 | bit, 0]) }
  }

  @Test(arguments: [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] as [UInt8])
  func `reserved opcodes are refused at the first byte`(opcode: UInt8) {
    #expect(throws: ProtocolViolation.reservedOpcode(opcode)) { try read([0x80 | opcode]) }
  }

  @Test func `the mask bit follows from the role`() {
    #expect(throws: ProtocolViolation.maskMissing) { try read([0x81, 0x00], as: .server) }
    #expect(throws: ProtocolViolation.maskUnexpected) { try read([0x81, 0x80], as: .client) }
  }

  @Test(arguments: [0x8, 0x9, 0xA] as [UInt8])
  func `a control frame is whole and has at most 125 bytes`(opcode: UInt8) throws {
    #expect(throws: ProtocolViolation.controlFragmented) { try read([opcode]) }
    #expect(throws: ProtocolViolation.controlTooLong) { try read([0x80 | opcode, 126]) }
    #expect(throws: ProtocolViolation.controlTooLong) { try read([0x80 | opcode, 127]) }
    #expect(try read([0x80 | opcode, 125])?.payloadLength == 125)
  }

  @Test func `a length in more bytes than it needs is refused`() {
    #expect(throws: ProtocolViolation.lengthNotMinimal) { try read([0x82, 126, 0, 125]) }
    #expect(throws: ProtocolViolation.lengthNotMinimal) {
      try read([0x82, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF])
    }
  }

  @Test func `a length with the highest bit set is refused`() {
    #expect(throws: ProtocolViolation.lengthHighBit) {
      try read([0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0])
    }
  }

  @Test func `the declared length is checked against the limit before the mask has arrived`() throws
  {
    #expect(try read([0x82, 100], payloadLimitBytes: 100)?.payloadLength == 100)
    #expect(throws: ProtocolViolation.frameTooBig(limitBytes: 100)) {
      try read([0x82, 101], payloadLimitBytes: 100)
    }
    #expect(throws: ProtocolViolation.frameTooBig(limitBytes: 100)) {
      try read(
        [0x82, 0xFF, 0x7F] + [UInt8](repeating: 0xFF, count: 7), as: .server,
        payloadLimitBytes: 100)
    }
  }
}
