import WebSocket
import Wire

/// One HTTP request, from its head to the end of its answer. Confined to its loop's thread.
final class HTTPExchange {
  enum State {
    /// The content is being received.
    case reading
    /// The shard accepts no input for now.
    case held
    /// The relay is processing the request.
    case waiting
    /// The answer is being sent.
    case answering
  }

  let call: HTTPCall
  /// Distinguishes it from earlier and later exchanges of the same connection index.
  let serial: UInt64
  var state = State.reading
  var content: [UInt8] = []
  /// The response, until it can be sent.
  private(set) var response: HTTPResponse?
  /// The bytes of the answer; before it, those of the `100 Continue`.
  var output: [UInt8] = []
  var sent = 0
  /// The connection ends after the answer.
  var endsConnection = false
  /// Why the shard closes the session, if it does.
  var closing: (reason: CloseReason, text: String)?
  /// Whether the entry that was sent existed already.
  private(set) var isDuplicate = false

  init(_ call: HTTPCall, serial: UInt64) {
    self.call = call
    self.serial = serial
  }

  /// Sets the response; only the first one counts.
  func answer(_ response: HTTPResponse) {
    if self.response == nil { self.response = response }
  }

  /// Takes messages of the session, and finds the answer among them. Other messages, such as
  /// `welcome`, are ignored.
  func take(_ messages: [InternalMessage], wall: Int64) {
    guard case .relay(let question, _) = call.target else { return }
    for message in messages where response == nil {
      switch (question, message.value) {
      case (_, .error(let error)): answer(HTTPProblem(error, wall: wall).response)
      case (.send, .ack(let ack)):
        isDuplicate = ack.duplicate
        answer(Self.response(ack.duplicate ? 200 : 201, message.json))
      case (.history, .history), (.people, .people): answer(Self.response(200, message.json))
      default: break
      }
    }
  }

  private static func response(_ status: Int, _ json: [UInt8]) -> HTTPResponse {
    var response = HTTPResponse(status: status, contentType: "application/json", body: json)
    // Caches must not store messages of a room.
    response.add("Cache-Control", "no-store")
    return response
  }
}
