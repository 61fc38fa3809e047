import Relay
import Testing

@testable import Gateway

@Suite struct `Messages to an internal session` {
  @Test func `are read from the frames of one write, whatever their lengths`() {
    let payloads = [2, 125, 126, 65_535, 65_536].map { [UInt8](repeating: 0x20, count: $0) }
    var frames: [UInt8] = []
    for payload in payloads {
      Framing.webSocket.appendHeader(payload.count, &frames)
      frames += payload
    }
    #expect(InternalMessage.all(in: frames.span).map(\.json) == payloads)
  }

  @Test func `have a value if a client can read them`() {
    #expect(InternalMessage(json: Array(#"{"type":"left","room":"r"}"#.utf8)).value != nil)
    #expect(InternalMessage(json: Array(#"{"type":"left"}"#.utf8)).value == nil)
  }
}
