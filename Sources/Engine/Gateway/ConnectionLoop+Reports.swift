import Accounts
import Relay
import WebSocket
import Wire

/// What a loop tells the operator's log.
extension ConnectionLoop {
  /// Writes an event of a connection. The shard may be being called.
  func write(
    _ level: Diagnostics.Level, _ stream: Int, _ message: String, _ fields: [LogField]
  ) {
    var fields = fields
    if level == .info, let connection = connections[stream] {
      fields.append(LogField("transport", Self.transport(of: connection)))
      if let host = connection.host { fields.append(LogField("address", host.description)) }
    }
    fields += [LogField("loop", index), LogField("connection", stream)]
    world.report(level, message, fields)
  }

  /// By what a connection is used, for operators.
  static func transport(of connection: ServerConnection) -> String {
    switch connection.state {
    case .bot: "bot"
    case .exchange(let exchange): exchange is StreamExchange ? "stream" : "http"
    case .opening, .resting: "http"
    default: "websocket"
    }
  }

  /// Reports what happens to a connection, at the level `debug`.
  @inline(__always)
  func report(
    _ connection: ServerConnection, _ message: String,
    _ fields: @autoclosure () -> [LogField] = []
  ) {
    diagnostics.debug(connection.stream, message, fields())
  }

  /// Reports that a session ends: at `info` one that has signed in.
  /// - Parameter code: of the close frame.
  func reportEnd(of connection: ServerConnection, _ reason: String, code: CloseCode? = nil) {
    let message = "A session has ended."
    let cause = {
      [LogField("reason", reason)] + (code.map { [LogField("code", $0.rawValue)] } ?? [])
    }
    guard let (user, session) = connection.session.flatMap({ shard.signedIn($0) }) else {
      return report(connection, message, cause())
    }
    diagnostics.info(
      .end, connection.stream, now: now, message,
      cause() + [LogField("user", user)] + (session.map { [LogField("session", $0)] } ?? []))
  }

  /// Reports that a client does not get in, or may not have what it asks for.
  func reportRefusal(of connection: ServerConnection, _ fields: @autoclosure () -> [LogField]) {
    diagnostics.info(.refusal, connection.stream, now: now, "A client was refused.", fields())
  }

  /// Reports that the relay closes a WebSocket, with the reason that its client was told.
  func reportClose(of connection: ServerConnection, _ code: CloseCode, _ reason: String) {
    guard let session = connection.session, !shard.isAuthenticated(session) else {
      return reportEnd(of: connection, reason, code: code)
    }
    reportRefusal(
      of: connection, [LogField("code", code.rawValue), LogField("reason", reason)])
  }

  /// Reports that a device has signed in to an account, if an answer gives it a session.
  func reportDevice(_ answer: AccountAnswer, of connection: ServerConnection) {
    switch answer.cookie {
    case .session, .attemptEnded(token: .some): break
    case .attemptEnded, .attempt, .none?, nil: return
    }
    var user = answer.joining?.user
    if case .json(let json) = answer.content { user = user ?? JSONNode(json)?["user"]?.string }
    diagnostics.info(
      .signIn, connection.stream, now: now, "A device signed in to an account.",
      user.map { [LogField("user", $0)] } ?? [])
  }

  /// Reports the answer to a request over HTTP; at `info` if it refuses access.
  func reportAnswer(_ response: HTTPResponse, to exchange: HTTPExchange) {
    report(
      exchange.connection, "A request is answered.", [LogField("status", response.status)])
    guard response.status == 401 || response.status == 403 else { return }
    reportRefusal(of: exchange.connection, Self.fields(response, exchange.call.identity))
  }

  private static func fields(_ response: HTTPResponse, _ identity: Identity?) -> [LogField] {
    let reason =
      JSONNode(response.body)?["detail"]?.string
      ?? String(decoding: response.body, as: UTF8.self).filter { $0 != "\n" }
    let fields = [LogField("status", response.status), LogField("reason", reason)]
    return fields + (identity.map { [LogField("user", $0.user)] } ?? [])
  }

  func countViolation(
    _ rule: Violations.Rule, by connection: ServerConnection, because reason: String? = nil
  ) {
    report(connection, "A rule is violated.", [LogField("rule", rule.rawValue)])
    let user = connection.session.flatMap { shard.signedIn($0)?.user }
    context.violations.count(
      rule, by: user ?? connection.exchange?.call.identity?.user, from: connection.host,
      because: reason)
  }

  /// Reports what the loops have counted since the last time: what was left out, and violated rules.
  /// - Parameter isLast: whether the loop ends.
  func reportSummaries(isLast: Bool = false) {
    // One loop reports for all, until they end, one after the other.
    guard index == 0 || isLast else { return }
    for omitted in context.lineQuota.takeOmitted(now: isLast ? nil : now.monotonic) {
      world.report(
        .info,
        "Lines were left out: the limit is \(LineQuota.linesPerMinute) of a kind per minute.",
        [LogField("kind", omitted.kind.name), LogField("count", omitted.count)])
    }
    for report in context.violations.takeReports(now: isLast ? nil : now.monotonic) {
      var fields = [LogField("rule", report.rule.rawValue), LogField("count", report.count)]
      if let user = report.user { fields.append(LogField("user", user)) }
      if let host = report.host { fields.append(LogField("address", host.description)) }
      if let reason = report.reason { fields.append(LogField("reason", reason)) }
      world.report(report.rule.isShortage ? .warning : .notice, report.message, fields)
    }
  }
}

extension HTTPRequest {
  /// The path as the log shows it: without what may be the code of an invitation or of a device.
  var shownPath: String {
    let segments = path.split(separator: "/")
    let isInterface = segments.first == "v1"
    // The rest of these is names of rooms and users.
    let isNamed = isInterface && segments.count > 1 && ["rooms", "people"].contains(segments[1])
    let shown = isNamed ? segments[...] : segments.prefix(isInterface ? 2 : 1)
    let rest = shown.count < segments.count ? "/…" : ""
    return "/" + shown.joined(separator: "/") + rest
  }
}
