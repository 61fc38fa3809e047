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
    /// The request waits for an entry.
    case polling
    /// The answer is a stream of events.
    case streaming
    /// The answer is a refusal that waits: see `ConnectionLoop.refuseLater`.
    case delayed
    /// The answer is being sent.
    case answering
  }

  let call: HTTPCall
  let id: ExchangeID
  var state = State.reading
  var content: [UInt8] = []
  /// The response, until it can be sent.
  private(set) var response: HTTPResponse?
  /// The bytes of the answer, or the events that the socket has not taken; before them, those of the `100 Continue`.
  var output: [UInt8] = []
  var sent = 0
  /// The connection ends after the answer.
  var endsConnection = false
  /// Why the shard closes the session, if it does.
  var closing: (reason: CloseReason, text: String)?
  /// The events of `GET /v1/stream`.
  var stream: EventStream?
  /// The requests and answers of `POST /v1/requests`.
  var batch: RequestBatch?
  /// The answer to a long poll if no entry comes, and the room's last entry then.
  var emptyPage: (json: [UInt8], head: Int64)?
  /// When a long poll ends, in milliseconds of the loop's clock.
  var pollsUntil: Int64 = 0
  /// How often a long poll has read its room again.
  var rereads = 0
  /// The number of sent entries that existed already.
  private(set) var duplicates = 0

  init(_ call: HTTPCall, _ id: ExchangeID) {
    self.call = call
    self.id = id
  }

  /// Sets the response; only the first one counts.
  func answer(_ response: HTTPResponse) {
    if self.response == nil { self.response = response }
  }

  /// Takes messages of the session, and finds the answer among them. Other messages, such as
  /// `welcome`, are ignored.
  func take(_ messages: [InternalMessage], wall: Int64) {
    if batch != nil {
      for message in messages where batch?.take(message) == true { duplicates += 1 }
      return
    }
    guard case .relay(let question, _) = call.target else { return }
    for message in messages where response == nil {
      switch (question, message.value) {
      case (_, .error(let error)): answer(HTTPProblem(error, wall: wall).response)
      case (.send, .ack(let ack)):
        duplicates = ack.duplicate ? 1 : 0
        answer(Self.response(ack.duplicate ? 200 : 201, message.json))
      case (.history, .history(let page)) where call.poll?.isUnanswered(by: page) == true:
        emptyPage = (message.json, page.head)
      case (.history, .history), (.people, .people), (.rooms, .rooms):
        answer(Self.response(200, message.json))
      default: break
      }
    }
  }

  /// Sets the response if all requests of the batch have an answer.
  func finishBatch() {
    if let batch, batch.isDone { answer(Self.response(200, batch.json)) }
  }

  /// Sets the response of a long poll that has waited for an entry.
  func answerWithEmptyPage() {
    if let emptyPage { answer(Self.response(200, emptyPage.json)) }
  }

  private static func response(_ status: Int, _ json: [UInt8]) -> HTTPResponse {
    HTTPResponse(status: status, contentType: "application/json", body: json)
  }
}
