import Accounts
import Relay
import WebSocket
import Wire

/// A request about accounts, devices and invitations: what keeps the accounts answers it.
final class AccountExchange: HTTPExchange {
  private let question: AccountCall.Request
  private let request: HTTPRequest
  private var content: [UInt8] = []
  private var rooms = Rooms.none

  /// What the relay is asked about rooms, by sessions as any client has them.
  private enum Rooms {
    case none
    /// Whether the maker of an invitation manages its rooms; those that are left, the last one first.
    case managed([String], isAsked: Bool)
    /// Joins of a new user, and the rooms that have let them in by none.
    case joins(AccountAnswer.Joining, left: Int, refused: [String])
    /// Entries by which the maker of an invitation lets the new user in.
    case entries(left: Int)
    /// All is said, or the session has ended.
    case done(managesRooms: Bool)
  }

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
    self.content = content
    if question == .invite, !call.isOperator, let identity = call.identity {
      let named = JSONNode(content)?["rooms"]?.elements?.compactMap(\.string) ?? []
      if !named.isEmpty, named.count <= AccountSettings.roomsLimit {
        open(as: identity)
        rooms = .managed(named, isAsked: false)
        return askNext()
      }
    }
    ask(managesRooms: false)
  }

  private func ask(managesRooms: Bool) {
    let authenticator = loop.context.authenticator
    let caller = call.identity.map {
      AccountCall.Caller(
        user: $0.isRelay ? AccountCall.Caller.relay : $0.user, session: $0.device,
        isOperator: call.isOperator || authenticator.isOperator($0), managesRooms: managesRooms)
    }
    loop.world.ask(
      AccountCall(
        question, caller: caller, content: content,
        address: connection.host?.description ?? "this machine",
        browserSecret: authenticator.cookie?.attemptSecret(in: request),
        userAgent: request.headers.only("User-Agent") ?? ""), for: id)
  }

  override func take(_ answer: AccountAnswer) {
    loop.reportDevice(answer, of: connection)
    var response = response(answer)
    if let change = answer.cookie, let cookie = loop.context.authenticator.cookie,
      cookie.maySet(for: request)
    {
      for field in cookie.fields(change) { response.add("Set-Cookie", field) }
    }
    self.answer(response)
    if let joining = answer.joining {
      join(joining)
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
      // A path is one of the relay's own.
      let prefix = location.hasPrefix("/") ? loop.context.router.pathPrefix : ""
      response.add("Location", prefix + location)
      // The address has a code.
      response.add("Referrer-Policy", "no-referrer")
      return response
    case .problem(let problem):
      if problem.code == .rateLimited { loop.countViolation(.signInsPerMinute, by: connection) }
      return HTTPProblem(problem).response
    }
  }

  // MARK: - Rooms of an invitation

  private func open(as identity: Identity) {
    loop.endSession(of: connection)
    let session = loop.openSession(for: connection)
    loop.shard.identify(session, as: identity, isPresence: false, now: loop.now)
    loop.shard.skipEntries(session)
  }

  private func submit(_ message: ClientMessage) {
    guard let session = connection.session else { return }
    loop.shard.receive(session, message.json.span, now: loop.now)
  }

  /// Asks for the reports about the next room: only those who manage it get them.
  private func askNext() {
    guard case .managed(let left, isAsked: false) = rooms, let room = left.last else { return }
    rooms = .managed(left, isAsked: true)
    submit(.reports(room: room))
  }

  /// Makes a new user a member of rooms. Those that they may not join are the maker's to let them into.
  private func join(_ joining: AccountAnswer.Joining) {
    rooms = .joins(joining, left: joining.rooms.count, refused: [])
    open(as: Identity(user: joining.user))
    submit(.joinRooms(joining.rooms.map { .success(ClientMessage.Join(room: $0)) }))
  }

  /// Lets a new user into rooms by entries of the one who has invited them: what that one may do now counts.
  private func letIn(_ joining: AccountAnswer.Joining, into refused: [String]) {
    // The ban of the maker may have come since the link was opened.
    let isBanned = loop.context.authenticator.isBanned(joining.maker, wall: loop.now.wall)
    guard !refused.isEmpty, !isBanned else {
      rooms = .done(managesRooms: false)
      return
    }
    rooms = .entries(left: refused.count)
    var maker = joining.maker.isEmpty ? Identity.relay : Identity(user: joining.maker)
    maker.isOperator = joining.isByOperator
    open(as: maker)
    for room in refused {
      submit(
        .send(
          ClientMessage.Send(
            room: room, id: "invite-\(joining.invitation)-\(joining.use)",
            member: MemberChange(user: joining.user, role: .member))))
    }
  }

  override func write(_ frames: Span<UInt8>) -> Int {
    for message in InternalMessage.all(in: frames) { take(message.value) }
    loop.advanceLater(connection)
    return frames.count
  }

  private func take(_ message: ServerMessage?) {
    switch (rooms, message) {
    case (.managed(let left, _), .reports):
      rooms =
        left.count > 1
        ? .managed(left.dropLast(), isAsked: false) : .done(managesRooms: true)
    case (.managed, .error): rooms = .done(managesRooms: false)
    case (.joins(let joining, let left, let refused), .joined):
      rooms = .joins(joining, left: left - 1, refused: refused)
    case (.joins(let joining, let left, let refused), .error(let error)):
      rooms = .joins(joining, left: left - 1, refused: refused + [error.room].compactMap { $0 })
    case (.entries(let left), .ack), (.entries(let left), .error):
      // A room that the relay does not let the user into is left out.
      rooms = left > 1 ? .entries(left: left - 1) : .done(managesRooms: false)
    default: break
    }
  }

  override func advance() {
    switch rooms {
    case .joins(let joining, left: ...0, let refused):
      letIn(joining, into: refused)
      if case .done = rooms { sendResponse() }
    case .managed: askNext()
    case .done(let managesRooms) where response == nil:
      rooms = .none
      loop.endSession(of: connection)
      ask(managesRooms: managesRooms)
    case .done: sendResponse()
    case .none, .joins, .entries: break
    }
  }

  override func sessionEnds(_ reason: CloseReason, _ text: String) {
    rooms = .done(managesRooms: false)
    loop.advanceLater(connection)
  }

  /// The user is signed in, whether or not the log answers.
  override func timeOut() {
    if response == nil { super.timeOut() } else { sendResponse() }
  }
}

extension HTTPProblem {
  init(_ problem: AccountProblem) {
    self.init(problem.status, problem.detail, code: problem.code, field: problem.field)
    retryAfterMilliseconds = problem.retryAfterMilliseconds
  }
}
