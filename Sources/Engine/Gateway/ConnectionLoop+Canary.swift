import Relay
import WebSocket
import Wire

/// `GET /readyz`: reports whether the relay works from end to end; see `Canary`.
extension ConnectionLoop {
  func askWhetherReady(_ exchange: HTTPExchange, _ index: ConnectionSlot) {
    guard shutdown == nil else {
      return finish(index, Self.response(to: .failed("the relay is shutting down")))
    }
    // The canary has an earlier deadline, because its failure is more informative.
    connections[index].deadline = now.monotonic + Canary.timeoutMilliseconds + 1000
    let waiter = Canary.Waiter(loop: self.index, connection: index, exchange: exchange.serial)
    switch context.canary.ask(waiter, now: now.monotonic) {
    case .take(let outcome): finish(index, Self.response(to: outcome))
    case .wait: break
    case .send: sendCanary()
    }
  }

  private func sendCanary() {
    let run = CanaryRun(
      id: Lineage.randomName(using: &random),
      deadline: now.monotonic + Canary.timeoutMilliseconds)
    let index = addConnection(.canary(run))
    let session = shard.open(connection: index.place, now: now)
    connections[index].session = session
    shard.identify(session, as: Canary.user, isPresence: false, now: now)
    shard.admitToReservedRooms(session)
    shard.receive(session, run.join.span, now: now)
  }

  /// Takes the next step of a canary.
  func advance(_ run: CanaryRun, _ index: ConnectionSlot) {
    guard let session = connections[index].session else { return }
    if let failure = run.failure {
      finishCanary(index, .failed(failure))
    } else if run.isBack {
      finishCanary(index, .ready)
    } else if run.hasJoined, !run.hasSent {
      run.hasSent = true
      shard.receive(session, run.send.span, now: now)
    }
  }

  func expire(_ run: CanaryRun, _ index: ConnectionSlot) {
    guard now.monotonic >= run.deadline else { return }
    let seconds = Canary.timeoutMilliseconds / 1000
    finishCanary(index, .failed("Within \(seconds) seconds, \(run.missing)."))
  }

  func finishCanary(_ index: ConnectionSlot, _ outcome: Canary.Outcome) {
    remove(index)
    let waiters = context.canary.finish(outcome, now: now.monotonic)
    for loop in 0..<context.loopCount {
      let theirs = waiters.filter { $0.loop == loop }
      if !theirs.isEmpty { world.post(.canary(outcome, theirs), to: loop) }
    }
  }

  func answerReadiness(_ outcome: Canary.Outcome, _ waiters: [Canary.Waiter]) {
    for waiter in waiters where exchange(waiter.exchange, at: waiter.connection) != nil {
      finish(waiter.connection, Self.response(to: outcome))
    }
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
