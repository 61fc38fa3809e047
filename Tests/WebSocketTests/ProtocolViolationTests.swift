import Testing
import WebSocket

@Suite struct `Protocol violations` {
  static let all: [(ProtocolViolation, CloseCode)] = [
    (.reservedBits, .protocolError), (.reservedOpcode(15), .protocolError),
    (.maskMissing, .protocolError), (.maskUnexpected, .protocolError),
    (.lengthNotMinimal, .protocolError), (.lengthHighBit, .protocolError),
    (.controlFragmented, .protocolError), (.controlTooLong, .protocolError),
    (.unexpectedContinuation, .protocolError), (.unfinishedMessage, .protocolError),
    (.frameTooBig(limitBytes: .max), .tooBig), (.messageTooBig(limitBytes: .max), .tooBig),
    (.tooManyFragments(limit: .max), .policyViolation), (.textNotUTF8, .invalidPayload),
    (.closeCodeTruncated, .protocolError), (.closeCodeInvalid(65535), .protocolError),
    (.closeReasonNotUTF8, .invalidPayload), (.compressedDataInvalid, .invalidPayload),
    (.outOfMemory, .internalError),
  ]

  @Test(arguments: all)
  func `each knows its close code and fits into a close frame`(
    violation: ProtocolViolation, code: CloseCode
  ) {
    #expect(violation.closeCode == code)
    #expect(violation.closeCode.mayBeSent)
    #expect(violation.description.utf8.count <= 123)
  }

  @Test func `no two read alike`() {
    #expect(Set(Self.all.map(\.0.description)).count == Self.all.count)
  }
}
