import Relay
import WebSocket
import Wire

/// `GET /v1/rooms/{room}/messages?after=&wait_s=`: a request that waits for the next entry. While it
/// waits, it costs a session and an empty page.
extension ConnectionLoop {
  /// Lets the exchange wait, or reads the room again if it has a new entry.
  func poll(_ exchange: HTTPExchange, _ index: ConnectionSlot) {
    guard let session = connections[index].session, let head = exchange.emptyPage?.head else {
      return
    }
    let mayWait = shutdown == nil && !connections[index].sawEnd && exchange.closing == nil
    guard mayWait, now.monotonic < exchange.pollsUntil else {
      return finishPoll(exchange, index)
    }
    guard shard.awaitEntry(session, after: head) else { return readAgain(exchange, index) }
    exchange.state = .polling
    connections[index].deadline = exchange.pollsUntil
  }

  /// Reads the rooms that have new entries.
  func readPolled() {
    for connection in shard.takePolled() {
      let index = ConnectionSlot(connection)
      guard connections.contains(index), let exchange = connections[index].exchange,
        exchange.state == .polling
      else { continue }
      readAgain(exchange, index)
    }
  }

  /// Reads a room again. An entry of a folded page may change nothing that is on it, so all reads
  /// after the second one are charged.
  private func readAgain(_ exchange: HTTPExchange, _ index: ConnectionSlot) {
    guard case .relay(let message, let identity) = exchange.call.target else { return }
    exchange.rereads += 1
    if exchange.rereads > 1,
      context.budgets.take(.request, bytes: 0, from: identity.user, now: now.monotonic) != nil
    {
      return finishPoll(exchange, index)
    }
    exchange.emptyPage = nil
    exchange.content = message.json([])
    connections[index].deadline = now.monotonic + Self.answerMilliseconds
    submit(exchange, index)
  }

  /// Ends the wait with an empty page.
  func finishPoll(_ exchange: HTTPExchange, _ index: ConnectionSlot) {
    exchange.answerWithEmptyPage()
    sendResponse(exchange, index)
  }

  /// Ends the wait of all requests, because the relay shuts down.
  func finishPolls() {
    for index in connections.slots {
      if let exchange = connections[index].exchange, exchange.state == .polling {
        finishPoll(exchange, index)
      }
    }
  }
}
