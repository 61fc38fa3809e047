import Relay
import WebSocket
import Wire

/// The HTTP resources besides the WebSocket.
extension RequestRouter {
  /// What a request for a resource needs.
  enum Access {
    /// Nothing: the answer is public.
    case everyone
    /// An operator, or a program that has the token for the metrics.
    case metrics
    /// An operator: a user who is one, a program that has the token for administration, or one at the operator's
    /// socket.
    case operators
    case users
    case usersOrOperators
    /// A user, or a link (`FileLink`), which is checked later.
    case usersOrLinks
  }

  /// A method of a resource.
  struct Resource: Sendable {
    typealias Target =
      @Sendable (HTTPRequest, _ names: [String]) throws(HTTPProblem) -> HTTPCall.Target

    let methods: [String]
    /// The segments of the path; one in braces stands for any.
    let pattern: [Substring]
    let access: Access
    /// Whether a `GET` changes something.
    let changesState: Bool
    let content: ContentType
    /// Returns what is requested. `names` are the segments that those in braces stand for.
    let target: Target

    init(
      _ method: String, _ path: String, for access: Access = .users, changesState: Bool = false,
      content: ContentType = .json, _ target: @escaping Target
    ) {
      methods = method == "GET" ? ["GET", "HEAD"] : [method]
      pattern = Array(path.split(separator: "/", omittingEmptySubsequences: false).dropFirst())
      self.access = access
      self.changesState = changesState
      self.content = content
      self.target = target
    }

    /// Returns the segments for those in braces; `nil` if the path is not the resource's.
    func names(in segments: [String]) -> [String]? {
      guard pattern.count == segments.count else { return nil }
      let pairs = zip(pattern, segments)
      guard pairs.allSatisfy({ $0.hasPrefix("{") || $0 == $1 }) else { return nil }
      return pairs.filter { $0.0.hasPrefix("{") }.map(\.1)
    }
  }

  static let resources = [
    Resource("GET", "/healthz", for: .everyone) { _, _ in .liveness },
    Resource("GET", "/readyz", for: .everyone) { _, _ in .readiness },
    Resource("GET", "/metrics", for: .metrics) { request, _ in
      .metrics(
        openMetrics: request.headers.list("Accept").contains {
          $0.hasPrefix("application/openmetrics-text")
        })
    },
    Resource("GET", "/v1/connections", for: .operators) { request, _ in
      .connections(of: request.query("of"))
    },
    Resource("GET", "/v1/samples", for: .operators) { (request, _) throws(HTTPProblem) in
      guard let time = Int64(request.query("after") ?? "0") else {
        throw HTTPProblem(
          400, "after must be a time in milliseconds since 1970.", code: .badField, field: "after")
      }
      return .samples(after: time)
    },
    Resource("DELETE", "/v1/connections/{connection}", for: .operators) { .endConnection($1[0]) },
    Resource("GET", "/v1/rooms/{room}/messages") { .relay(.history(of: $1[0], $0)) },
    Resource("POST", "/v1/rooms/{room}/messages") {
      .relay(.send(room: $1[0], $0.headers["traceparent"].first.flatMap(Traceparent.init)))
    },
    Resource("GET", "/v1/rooms/{room}/messages/{entry}/trace", for: .usersOrOperators) {
      (request, names) throws(HTTPProblem) in
      .trace(try HTTPCall.TraceQuestion(room: names[0], entry: names[1], request))
    },
    Resource("GET", "/v1/traces/{trace}", for: .operators) {
      (_, names) throws(HTTPProblem) in .trace(try HTTPCall.TraceQuestion(trace: names[0]))
    },
    Resource("POST", "/v1/requests", for: .usersOrOperators) { _, _ in .requests },
    // A browser follows a link, and loads an image, by GET: this one joins rooms.
    Resource("GET", "/v1/stream", changesState: true) { request, _ in .stream(request) },
    Resource("GET", "/v1/rooms") { request, _ in .relay(.rooms(in: request)) },
    Resource("GET", "/v1/sign-in", for: .everyone) { _, _ in .signInMethods },
    Resource("GET", "/v1/people") { request, _ in .relay(.people(in: request)) },
    Resource("GET", "/v1/avatars/{user}") {
      .avatar(of: $1[0], known: $0.headers["If-None-Match"])
    },
  ]

  static let resourcesWithFiles = resources + fileResources
  static let resourcesWithAccounts = resourcesWithFiles + accountResources

  /// Routes a request that is not for a WebSocket.
  func page(
    _ request: HTTPRequest, _ peer: ServerConnection.Peer, _ isOperator: (Identity) -> Bool,
    _ identify: () -> Authenticator.Answer
  ) throws(HTTPProblem) -> Route {
    var segments = request.pathSegments ?? []
    let isAPI = segments.first == "v1"
    let isSignIn = servesAccounts && segments.first == "sign-in"
    // Outside of the interface, only one spelling of a path is right.
    if !isAPI, !isSignIn { segments = [String(request.path.dropFirst())] }
    var found: [(resource: Resource, names: [String])] = []
    if !isAPI, let file = files.response(to: request, at: page(at: request.path)) {
      found = [(Resource("GET", "", for: .everyone) { _, _ in .file(file) }, [])]
    } else {
      let resources = servesAccounts ? Self.resourcesWithAccounts : Self.resourcesWithFiles
      found = resources.compactMap { resource in
        resource.names(in: segments).map { (resource: resource, names: $0) }
      }
    }
    let isFiles = isAPI && segments.dropFirst().first == "files"
    let method = isFiles ? Tus.method(of: request) : request.method
    let requested = found.first { $0.resource.methods.contains(method) } ?? found.first
    // A link is for what a file is, not for how far its upload is.
    let isLink =
      ["GET", "HEAD"].contains(method) && !(method == "HEAD" && Tus.isSpoken(in: request))
      && requested?.resource.access == .usersOrLinks && FileLink(request) != nil
    if isAPI, !isLink {
      try checkOrigin(of: request, changesState: requested?.resource.changesState == true)
    }
    if isAPI { try checkHost(of: request) }
    guard let (resource, names) = requested else { throw nothingHere }
    let methods = found.flatMap(\.resource.methods) + (isAPI ? ["OPTIONS"] : [])
    guard methods.contains(method) else {
      throw .wrongMethod(allowed: methods.joined(separator: ", "))
    }
    if method == "OPTIONS" {
      return options(request, allowed: methods.joined(separator: ", "), ofFiles: isFiles)
    }
    var call = HTTPCall(target: .nothing)
    switch resource.access {
    case .everyone: break
    case .metrics:
      try checkOrigin(of: request)
      if peer != .operator, !presents(metricsToken, request) {
        let needed = "The metrics need the token in metrics.token, or an operator of the relay."
        try checkOperator(needed, isOperator, of: &call) { () throws(HTTPProblem) in
          try identity(of: request, peer, identify)
        }
      }
    case .operators:
      let needed = "Only operators of the relay may do that."
      try checkOperator(needed, isOperator, of: &call) { () throws(HTTPProblem) in
        try identity(of: request, peer, identify)
      }
    case .users: call.identity = try user(identify())
    case .usersOrLinks: call.identity = isLink ? nil : try user(identify())
    case .usersOrOperators:
      let identity = try identity(of: request, peer, identify)
      call.identity = identity
      call.isOperator = identity.isRelay || isOperator(identity)
    }
    if isFiles, fileLimitBytes == nil { throw .noFiles }
    call.target = try resource.target(request, names)
    // Clients and proxies know the request by this method: an answer to HEAD has no content, to any other one all of it.
    call.headOnly = request.method == "HEAD"
    call.speaksTus = isFiles && Tus.isSpoken(in: request)
    call.keepsAlive = (isAPI || call.isFile) && !request.closes
    if isAPI, origin.allowsOthers {
      call.origin = foreignOrigin(of: request)
      call.variesByOrigin = true
    }
    if case .relay(.history) = call.target {
      call.poll = try LongPoll(room: names[0], request)
    }
    if method == "POST" || method == "PATCH" {
      try readContent(of: request, resource.content, into: &call)
    } else if method != request.method {
      // What follows would be taken for another request.
      try readContent(of: request, .nothing, into: &call)
    }
    return .call(call)
  }

  var nothingHere: HTTPProblem {
    let place = pathPrefix.isEmpty ? "" : " All of it is below \(pathPrefix) (path_prefix)."
    return HTTPProblem(
      404,
      "Not found. The web page is at /, the WebSocket at /ws, the HTTP interface at /v1/rooms/{room}/messages,"
        + " /v1/rooms, /v1/stream, /v1/requests, /v1/people and /v1/avatars/{user}, the relay's state at /healthz, /readyz and /metrics."
        + place,
      code: .unknownType)
  }

  /// Answers with the allowed methods, and to a browser's preflight request for a page of another
  /// site (CORS).
  private func options(_ request: HTTPRequest, allowed: String, ofFiles: Bool) -> Route {
    var response = HTTPResponse(status: 204)
    response.add("Allow", allowed)
    if ofFiles, let fileLimitBytes {
      for field in Tus.options(limitBytes: fileLimitBytes) { response.add(field.name, field.value) }
    }
    let page = foreignOrigin(of: request)
    if origin.allowsOthers { response.allowReading(by: page) }
    if page != nil {
      response.add("Access-Control-Allow-Methods", allowed)
      let more = ofFiles ? ", \(Tus.requestFields)" : ""
      response.add(
        "Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID\(more)")
      response.add("Access-Control-Max-Age", "600")
    }
    return .answer(response)
  }

  // MARK: - Access

  /// In open mode a page whose name resolves to this machine (DNS rebinding) must not pose as a local
  /// program.
  private func checkHost(of request: HTTPRequest) throws(HTTPProblem) {
    guard requiresLoopbackHost, !RequestOrigin.isLoopback(request.host) else { return }
    throw .origin("This relay is not available at \(request.host); use 127.0.0.1 or [::1].")
  }

  private func user(_ answer: Authenticator.Answer) throws(HTTPProblem) -> Identity {
    switch answer {
    case .known(let identity): return identity
    case .refused(let error): throw HTTPProblem(error)
    case .crossOrigin: throw .crossOrigin
    // The request is routed again once that is done.
    case .later: throw .unavailable("The token is being verified.")
    case .unknown:
      throw .unauthorized(
        "Authentication is required: send Authorization: Bearer, or ?user=NAME if the relay does"
          + " not use tokens.")
    }
  }

  /// Returns who makes a request: a user, or the relay itself for a program of its operators.
  ///
  /// An address is no credential: a proxy on the same machine has the relay's own.
  private func identity(
    of request: HTTPRequest, _ peer: ServerConnection.Peer,
    _ identify: () -> Authenticator.Answer
  ) throws(HTTPProblem) -> Identity {
    if presents(adminToken, request) { return .relay }
    let answer = identify()
    return peer == .operator && answer == .unknown ? .relay : try user(answer)
  }

  /// Throws if a request is not one of an operator.
  private func checkOperator(
    _ needed: String, _ isOperator: (Identity) -> Bool, of call: inout HTTPCall,
    _ identify: () throws(HTTPProblem) -> Identity
  ) throws(HTTPProblem) {
    let detail =
      "\(needed) Send Authorization: Bearer with the token in admin.token or that of a user listed in"
      + " auth.operators, or use the socket operator.sock in the relay's data folder."
    let identity: Identity
    do throws(HTTPProblem) { identity = try identify() } catch {
      throw error.status == 401 ? .unauthorized(detail) : error
    }
    guard identity.isRelay || isOperator(identity) else {
      throw HTTPProblem(403, detail, code: .forbidden)
    }
    call.identity = identity
    call.isOperator = true
  }

  /// Whether the request has a token of the configuration.
  private func presents(_ token: String, _ request: HTTPRequest) -> Bool {
    !token.isEmpty
      && (request.headers.only("Authorization") ?? "").equals(secret: "Bearer \(token)")
  }
}

extension String {
  /// Whether this is a secret. All bytes are compared in any case, so that the time does not tell how many of them
  /// are right.
  func equals(secret: String) -> Bool {
    utf8.count == secret.utf8.count
      && zip(utf8, secret.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
