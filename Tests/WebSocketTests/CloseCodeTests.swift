import Testing
import WebSocket

@Suite struct `Close codes, RFC 6455 §7.4` {
  @Test func `exactly the registered codes and the open ranges may be sent`() {
    let allowed = Set([1000, 1001, 1002, 1003] + Array(1007...1014) + Array(3000...4999))
    for raw in UInt16.min...UInt16.max {
      #expect(CloseCode(rawValue: raw).mayBeSent == allowed.contains(Int(raw)), "\(raw)")
    }
  }

  @Test func `the codes that stand for a missing close must not be sent`() {
    #expect(!CloseCode.noStatus.mayBeSent)
    #expect(!CloseCode.abnormal.mayBeSent)
  }
}
