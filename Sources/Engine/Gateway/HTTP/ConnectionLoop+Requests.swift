import Relay
import WebSocket
import Wire

/// `POST /v1/requests`: several requests of relay.v1 in one request of HTTP.
extension ConnectionLoop {
  func ask(_ exchange: HTTPExchange, as identity: Identity, _ connection: ServerConnection) {
    let batch: RequestBatch
    do throws(WireError) {
      batch = try RequestBatch(exchange.content, limits: context.shard.limits)
    } catch {
      return finish(connection, HTTPProblem(error).response)
    }
    if let problem = charge(
      sends: batch.sends, requests: batch.requests, bytes: exchange.content.count,
      to: identity.user)
    {
      return finish(connection, problem.response)
    }
    exchange.content = []
    exchange.batch = batch
    let session = openSession(for: connection)
    shard.identify(session, as: identity, isPresence: false, now: now)
    shard.skipEntries(session)
    submitNext(exchange, connection)
  }

  /// Submits requests as long as the shard accepts them, and answers when all have an answer.
  func submitNext(_ exchange: HTTPExchange, _ connection: ServerConnection) {
    guard let session = connection.session else { return }
    exchange.state = .waiting
    while exchange.batch?.hasNext() == true {
      if exchange.batch?.nextMustWait == true { return }
      guard shard.mayReceive(session, now: now) else {
        exchange.state = .held
        return
      }
      if let json = exchange.batch?.takeNext() { shard.receive(session, json.span, now: now) }
    }
    exchange.finishBatch()
    sendResponse(exchange, connection)
  }
}
