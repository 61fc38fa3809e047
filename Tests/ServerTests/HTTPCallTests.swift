import Relay
import Testing
import WebSocket
import Wire

@testable import Gateway
@testable import Server

@Suite struct `The message that a request over HTTP stands for` {
  /// The message that the relay gets, or its refusal.
  private func message(_ content: String) -> Result<ClientMessage, WireError> {
    let json = HTTPCall.Message.send(room: "general", nil).json(Array(content.utf8))
    do throws(WireError) {
      return .success(try ClientMessage(decoding: json.span, textLimitBytes: 0))
    } catch {
      return .failure(error)
    }
  }

  @Test func `has the traceparent of the request's head, whatever the content says`() throws {
    let span = try #require(
      Traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
    let json = HTTPCall.Message.send(room: "r", span).json(
      Array(#"{"id":"1","text":"hi","traceparent":"00-x"}"#.utf8))
    var send = ClientMessage.Send(room: "r", id: "1", text: "hi")
    send.traceparent = span
    #expect(try ClientMessage(decoding: json.span, textLimitBytes: 0) == .send(send))
  }

  @Test(arguments: [
    #"{"id":"1","text":"hi"}"#, " {\n\"id\": \"1\", \"text\": \"hi\" } \n",
    #"{"type":"join","room":"elsewhere","id":"1","text":"hi"}"#,
    #"{"x":{"room":"x"},"id":"1","text":"hi","y":[{"type":"join"}]}"#,
  ])
  func `is a send to the room that the path names, whatever else the content says`(
    _ content: String
  ) {
    #expect(message(content) == .success(.send(.init(room: "general", id: "1", text: "hi"))))
  }

  @Test(arguments: [
    "", "{", "}", "[1]", "null", "{} {}", #"{"id":"1","text":"hi"}}"#, #"{"id":"1","text":"hi"#,
    #"{"id":"1","text":"}"#, #"{"id":"1","text":"hi",}"#, #"{"id":"1","text":{"a":1}"#,
    #"{"id":"1","text":"hi","x":"\"}"#, "{,}",
  ])
  func `is refused if the content is not one object`(_ content: String) throws {
    guard case .failure(let error) = message(content) else {
      Issue.record("taken: \(content)")
      return
    }
    #expect(error.code == .badJSON)
  }

  @Test func `and an empty object lacks its id`() {
    guard case .failure(let error) = message("{ }") else {
      Issue.record("taken")
      return
    }
    #expect(error.code == .badField)
    #expect(error.field == "id")
  }
}

@Suite struct `Requests for the canary` {
  private let waiter = ExchangeID(loop: 0, stream: 1, serial: 2)

  private func advice(_ canary: Canary, at now: Int64) -> String {
    switch canary.ask(waiter, now: now) {
    case .send: "send"
    case .wait: "wait"
    case .take(let outcome): "\(outcome)"
    }
  }

  @Test func `one loop sends it, the others wait, and its answer is reused for five seconds`() {
    let canary = Canary()
    #expect(advice(canary, at: 0) == "send")
    #expect(advice(canary, at: 10) == "wait")
    #expect(canary.finish(.ready, now: 20).count == 2)
    #expect(advice(canary, at: 5019) == "ready")
    #expect(advice(canary, at: 5020) == "send")
    #expect(canary.finish(.failed("no"), now: 5030).count == 1)
    #expect(advice(canary, at: 6000) == "failed(\"no\")")
  }

  @Test func `a canary without an answer does not keep others from sending`() {
    let canary = Canary()
    #expect(advice(canary, at: 0) == "send")
    #expect(advice(canary, at: 5999) == "wait")
    #expect(advice(canary, at: 6000) == "send")
  }
}
