import Accounts
import Relay
import WebSocket
import Wire

/// A request about accounts, devices and invitations: what keeps the accounts answers it.
final class AccountExchange: HTTPExchange {
  private let question: AccountCall.Request
  private let request: HTTPRequest
  /// The joins of a new user that the log has not answered.
  private var joinsLeft = 0

  init(
    _ question: AccountCall.Request, _ request: HTTPRequest, _ call: HTTPCall, _ id: ExchangeID,
    _ loop: ConnectionLoop, _ connection: ServerConnection
  ) {
    self.question = question
    self.request = request
    super.init(call, id, loop, connection)
  }

  override func start(_ content: [UInt8]) {
    let problem =
      call.identity.map { loop.charge(requests: 1, bytes: content.count, to: $0.user) }
      ?? loop.chargeUnauthenticated(connection)
    if let problem { return finish(problem.response) }
    let authenticator = loop.context.authenticator
    let caller = call.identity.map {
      AccountCall.Caller(
        user: $0.user, session: $0.device, isOperator: authenticator.isOperator($0))
    }
    loop.world.ask(
      AccountCall(
        question, caller: caller, content: content,
        address: connection.host?.description ?? "this machine",
        browserSecret: authenticator.cookie?.attemptSecret(in: request),
        userAgent: request.headers.only("User-Agent") ?? ""), for: id)
  }

  override func take(_ answer: AccountAnswer) {
    var response = response(answer)
    if let change = answer.cookie, let cookie = loop.context.authenticator.cookie,
      cookie.maySet(for: request)
    {
      for field in cookie.fields(change) { response.add("Set-Cookie", field) }
    }
    self.answer(response)
    if let joining = answer.joining {
      join(joining.rooms, as: joining.user)
    } else {
      sendResponse()
    }
  }

  private func response(_ answer: AccountAnswer) -> HTTPResponse {
    switch answer.content {
    case .nothing: return HTTPResponse(status: answer.status)
    case .json(let json): return HTTPResponse(status: answer.status, json: json)
    case .redirect(let location):
      var response = HTTPResponse(status: answer.status)
      response.add("Location", location)
      // The address has a code.
      response.add("Referrer-Policy", "no-referrer")
      return response
    case .problem(let problem):
      if problem.code == .rateLimited { loop.countViolation(.signInsPerMinute, by: connection) }
      var shown = HTTPProblem(
        problem.status, problem.detail, code: problem.code, field: problem.field)
      shown.retryAfterMilliseconds = problem.retryAfterMilliseconds
      return shown.response
    }
  }

  // MARK: - Rooms of an invitation

  /// Makes a new user a member of rooms, by a session as any client has one.
  private func join(_ rooms: [String], as user: String) {
    let session = loop.openSession(for: connection)
    loop.shard.identify(session, as: user, isPresence: false, now: loop.now)
    joinsLeft = rooms.count
    var json = Array(#"{"type":"join","rooms":["#.utf8)
    for (place, room) in rooms.enumerated() {
      json += Array((place == 0 ? "" : ",").utf8)
      json += Array(#"{"room":"#.utf8)
      json.append(jsonString: room)
      json.append(UInt8(ascii: "}"))
    }
    json += Array("]}".utf8)
    loop.shard.skipEntries(session)
    loop.shard.receive(session, json.span, now: loop.now)
  }

  override func write(_ frames: Span<UInt8>) -> Int {
    for message in InternalMessage.all(in: frames) {
      switch message.value {
      // A room that the relay does not let the user into is left out.
      case .joined, .error: joinsLeft -= 1
      default: break
      }
    }
    loop.advanceLater(connection)
    return frames.count
  }

  override func advance() { if joinsLeft <= 0 { sendResponse() } }

  override func sessionEnds(_ reason: CloseReason, _ text: String) {
    joinsLeft = 0
    loop.advanceLater(connection)
  }

  /// The user is signed in, whether or not the log answers.
  override func timeOut() {
    if response == nil { super.timeOut() } else { sendResponse() }
  }
}
