import Testing
import Wire

/// W3C Trace Context, §3.2.2.
@Suite struct `The traceparent of a send` {
  private static let valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

  @Test(arguments: [
    valid, "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "01\(valid.dropFirst(2))-more",
  ])
  func `is taken in version 00 and in the form that later versions keep`(_ text: String) throws {
    let span = try #require(Traceparent(text))
    #expect(span.text == text.prefix(55))
    #expect(span.traceID?.description == "4bf92f3577b34da6a3ce929d0e0e4736")
  }

  @Test(arguments: [
    "", "00", String(valid.dropLast()), "\(valid)0", "\(valid)-more", valid.uppercased(),
    "ff\(valid.dropFirst(2))", "0x\(valid.dropFirst(2))",
    "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
    "00-4bf92f3577b34da6a3ce929d0e0e473\u{E9}-00f067aa0ba902b7-01",
    "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e47-36-00f067aa0ba902b7-01",
  ])
  func `counts as absent otherwise, and the message is sent all the same`(_ text: String) throws {
    #expect(Traceparent(text) == nil)
    let json = #"{"type":"send","room":"r","id":"1","text":"hi","traceparent":"\#(text)"}"#
    let bytes = Array(json.utf8)
    let message = try ClientMessage(decoding: bytes.span, textLimitBytes: 0)
    #expect(message == .send(.init(room: "r", id: "1", text: "hi")))
  }

  @Test(arguments: ["7", "null", "{}", "[\"\(valid)\"]"])
  func `counts as absent if it is no string`(_ value: String) throws {
    let bytes = Array(
      #"{"type":"send","room":"r","id":"1","text":"hi","traceparent":\#(value)}"#.utf8)
    let message = try ClientMessage(decoding: bytes.span, textLimitBytes: 0)
    #expect(message == .send(.init(room: "r", id: "1", text: "hi")))
  }

  @Test func `goes over the wire as it is`() throws {
    var send = ClientMessage.Send(room: "r", id: "1", text: "hi")
    send.traceparent = Traceparent(Self.valid)
    let json = ClientMessage.send(send).json(ref: nil)
    #expect(try ClientMessage(decoding: json.span, textLimitBytes: 0) == .send(send))
  }

  @Test func `has a trace whose name keeps its zeros`() throws {
    let id = try #require(TraceID("0000000000000000000000000000000a"))
    #expect(id == TraceID(high: 0, low: 10))
    #expect(id.description == "0000000000000000000000000000000a")
    for text in ["0000000000000000000000000000000A", "a", "+000000000000000000000000000000a", ""] {
      #expect(TraceID(text) == nil)
    }
    #expect(TraceID("00000000000000000000000000000000") == nil)
  }
}
