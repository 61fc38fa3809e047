import Relay
import WebSocket
import Wire

/// `GET /v1/rooms/{room}/messages?after=&wait_s=`: a request that waits for the next entry. While it
/// waits, it costs a session and an empty page.
extension ConnectionLoop {
  /// Lets the exchange wait, or reads the room again if it has a new entry.
  func poll(_ exchange: HTTPExchange, _ connection: ServerConnection) {
    guard let session = connection.session, let head = exchange.emptyPage?.head else {
      return
    }
    let mayWait = shutdown == nil && !connection.sawEnd && exchange.closing == nil
    guard mayWait, now.monotonic < exchange.pollsUntil else {
      return finishPoll(exchange, connection)
    }
    guard shard.awaitEntry(session, after: head) else { return readAgain(exchange, connection) }
    exchange.state = .polling
    connection.deadline = exchange.pollsUntil
  }

  /// Reads the rooms that have new entries.
  func readPolled() {
    for stream in shard.takePolled() {
      guard let connection = connections[Int(stream)], let exchange = connection.exchange,
        exchange.state == .polling
      else { continue }
      readAgain(exchange, connection)
    }
  }

  /// Reads a room again. An entry of a folded page may change nothing that is on it, so all reads
  /// after the second one are charged.
  private func readAgain(_ exchange: HTTPExchange, _ connection: ServerConnection) {
    guard case .relay(let message, let identity) = exchange.call.target else { return }
    exchange.rereads += 1
    if exchange.rereads > 1,
      context.budgets.take(.request, bytes: 0, from: identity.user, now: now.monotonic) != nil
    {
      return finishPoll(exchange, connection)
    }
    exchange.emptyPage = nil
    exchange.content = message.json([])
    connection.deadline = now.monotonic + Self.answerMilliseconds
    submit(exchange, connection)
  }

  /// Ends the wait with an empty page.
  func finishPoll(_ exchange: HTTPExchange, _ connection: ServerConnection) {
    exchange.answerWithEmptyPage()
    sendResponse(exchange, connection)
  }

  /// Ends the wait of all requests, because the relay shuts down.
  func finishPolls() {
    for connection in connections.all {
      if let exchange = connection.exchange, exchange.state == .polling {
        finishPoll(exchange, connection)
      }
    }
  }
}
