import Relay
import WebSocket
import Wire

/// An HTTP request to the relay: it opens a session as a WebSocket does, with the same limits and
/// rights, and the session's output is the answer.
class SessionExchange: HTTPExchange {
  let identity: Identity
  /// The message that the shard does not accept yet.
  private var held: [UInt8]?
  /// Why the shard closes the session, if it does.
  private(set) var closing: (reason: CloseReason, text: String)?

  override init(
    _ call: HTTPCall, _ id: ExchangeID, _ loop: ConnectionLoop, _ connection: ServerConnection
  ) {
    guard let identity = call.identity else {
      preconditionFailure("the router requires a user for requests to the relay")
    }
    self.identity = identity
    super.init(call, id, loop, connection)
  }

  /// Opens the session.
  /// - Parameters: as of `Shard.identify`.
  final func open(isPresence: Bool = false, lasts: Bool = false) -> SessionID {
    let session = loop.openSession(for: connection)
    loop.shard.identify(
      session, as: identity, isPresence: isPresence, lasts: lasts, now: loop.now)
    return session
  }

  /// Whether the content of a request is valid UTF-8; if not, the request is answered.
  final func isUTF8(_ content: [UInt8]) -> Bool {
    var validator = UTF8Validator()
    if validator.accept(content.span), validator.isComplete { return true }
    finish(HTTPProblem(400, "The content is not valid UTF-8.", code: .badJSON).response)
    return false
  }

  /// Passes a message to the shard, now or as soon as the shard accepts input again.
  final func submit(_ json: [UInt8]) {
    guard let session = connection.session else { return }
    guard loop.shard.mayReceive(session, now: loop.now) else {
      held = json
      return
    }
    loop.shard.receive(session, json.span, now: loop.now)
  }

  /// Takes messages of the session, and finds the answer among them. Other messages, such as
  /// `welcome`, are ignored.
  func take(_ messages: [InternalMessage]) {}

  /// Takes the next step towards an answer.
  func step() {}

  /// Answers a request whose session is closed.
  func refuse(_ problem: HTTPProblem) { answer(problem.response) }

  // MARK: - Events

  override func write(_ frames: Span<UInt8>) -> Int {
    take(InternalMessage.all(in: frames))
    loop.advanceLater(connection)
    return frames.count
  }

  override func resume() {
    guard let json = held else { return }
    held = nil
    submit(json)
  }

  override func advance() {
    step()
    if response == nil, let closing { refuse(Self.problem(closing.reason, closing.text)) }
    sendResponse()
  }

  /// The last output of the session is the answer, or else the reason is.
  override func sessionEnds(_ reason: CloseReason, _ text: String) {
    guard let session = connection.session else { return }
    if loop.shard.hasOutput(session) { return endLater(reason, text) }
    refuse(Self.problem(reason, text))
    sendResponse()
  }

  /// Lets `advance` end the request once the output of the session is read.
  final func endLater(_ reason: CloseReason, _ text: String) {
    closing = (reason, text)
    loop.advanceLater(connection)
  }

  private static func problem(_ reason: CloseReason, _ text: String) -> HTTPProblem {
    switch reason {
    case .notAuthenticated, .authenticationTimeout: .unauthorized(text)
    case .forbidden: HTTPProblem(403, text, code: .forbidden)
    default: .unavailable(text)
    }
  }
}
