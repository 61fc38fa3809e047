import Relay
import WebSocket
import Wire

/// `GET /readyz`: reports whether the relay works from end to end; see `Canary`.
extension ConnectionLoop {
  func askWhetherReady(_ exchange: HTTPExchange) {
    guard !isShuttingDown else {
      return exchange.finish(Self.response(to: .failed("the relay is shutting down")))
    }
    // The canary has an earlier deadline, because its failure is more informative.
    exchange.connection.deadline = now.monotonic + Canary.timeoutMilliseconds + 1000
    switch context.canary.ask(exchange.id, now: now.monotonic) {
    case .take(let outcome): exchange.finish(Self.response(to: outcome))
    case .wait: break
    case .send: sendCanary()
    }
  }

  private func sendCanary() {
    let run = CanaryRun(
      id: Lineage.randomName(using: &random),
      deadline: now.monotonic + Canary.timeoutMilliseconds)
    let connection = addConnection(.canary(run))
    let session = openSession(for: connection)
    shard.identify(session, as: Canary.user, isPresence: false, now: now)
    shard.admitToReservedRooms(session)
    shard.receive(session, run.join.span, now: now)
  }

  /// Takes the next step of a canary.
  func advance(_ run: CanaryRun, _ connection: ServerConnection) {
    guard let session = connection.session else { return }
    if let failure = run.failure {
      finishCanary(connection, .failed(failure))
    } else if run.isBack {
      finishCanary(connection, .ready)
    } else if run.hasJoined, !run.hasSent {
      run.hasSent = true
      shard.receive(session, run.send.span, now: now)
    }
  }

  func expire(_ run: CanaryRun, _ connection: ServerConnection) {
    guard now.monotonic >= run.deadline else { return }
    let seconds = Canary.timeoutMilliseconds / 1000
    finishCanary(connection, .failed("Within \(seconds) seconds, \(run.missing)."))
  }

  func finishCanary(_ connection: ServerConnection, _ outcome: Canary.Outcome) {
    remove(connection)
    let waiters = context.canary.finish(outcome, now: now.monotonic)
    for loop in 0..<context.loopCount {
      let theirs = waiters.filter { $0.loop == loop }
      if !theirs.isEmpty { world.post(.canary(outcome, theirs), to: loop) }
    }
  }

  func answerReadiness(_ outcome: Canary.Outcome, _ waiters: [ExchangeID]) {
    for id in waiters { exchange(id)?.finish(Self.response(to: outcome)) }
  }

  private static func response(to outcome: Canary.Outcome) -> HTTPResponse {
    switch outcome {
    case .ready: return HTTPResponse(status: 200, text: "ready\n")
    case .failed(let reason):
      var problem = HTTPProblem(503, reason, code: .unavailable)
      problem.retryAfterMilliseconds = Canary.keptMilliseconds
      return problem.response
    }
  }
}
