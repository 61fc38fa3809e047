import Relay
import WebSocket
import Wire

/// `POST /v1/requests`: several requests of relay.v1 in one request of HTTP.
final class BatchExchange: SessionExchange {
  private var batch: RequestBatch?
  /// The shard does not accept the next request yet.
  private var isHeld = false

  override func start(_ content: [UInt8]) {
    guard isUTF8(content) else { return }
    let batch: RequestBatch
    do throws(WireError) {
      batch = try RequestBatch(content, limits: loop.context.shard.limits)
    } catch {
      return finish(HTTPProblem(error).response)
    }
    // The operator's socket is for users of this machine, who could stop the relay as well.
    if !identity.isRelay,
      let problem = loop.charge(
        sends: batch.sends, requests: batch.requests, bytes: content.count, to: identity.user)
    {
      return finish(problem.response)
    }
    self.batch = batch
    loop.shard.skipEntries(open())
    submitNext()
  }

  override func take(_ messages: [InternalMessage]) {
    for message in messages where batch?.take(message) == true {
      loop.context.budgets.refundDuplicate(of: identity.user)
    }
  }

  override func step() { if !isHeld, closing == nil { submitNext() } }

  override func resume() { if isHeld { submitNext() } }

  /// Submits requests as long as the shard accepts them, and answers when all have an answer.
  private func submitNext() {
    guard response == nil, let session = connection.session else { return }
    isHeld = false
    while batch?.hasNext() == true {
      if batch?.nextMustWait == true { return }
      guard loop.shard.mayReceive(session, now: loop.now) else {
        isHeld = true
        return
      }
      if let json = batch?.takeNext() { loop.shard.receive(session, json.span, now: loop.now) }
    }
    finishIfDone()
    sendResponse()
  }

  override func refuse(_ problem: HTTPProblem) {
    batch?.refuseRest(
      problem.code, problem.detail, retryAfterMilliseconds: problem.retryAfterMilliseconds)
    finishIfDone()
  }

  override func timeOut() {
    refuse(.unavailable("The relay did not answer in time."))
    sendResponse()
  }

  /// Sets the response if all requests have an answer.
  private func finishIfDone() {
    if let batch, batch.isDone { answer(HTTPResponse(status: 200, json: batch.json)) }
  }
}
