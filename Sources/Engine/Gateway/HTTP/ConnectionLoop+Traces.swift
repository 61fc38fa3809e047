import Relay
import WebSocket
import Wire

/// `GET /v1/rooms/{room}/messages/{entry}/trace`: asks the log when it had the entry, then all loops
/// when they fanned it out.
extension ConnectionLoop {
  func askForTrace(_ question: HTTPCall.TraceQuestion, _ exchange: HTTPExchange) {
    let identity = exchange.call.identity
    if let identity, let problem = charge(requests: 1, to: identity.user) {
      return exchange.finish(problem.response)
    }
    shard.trace(
      question.entry, inRoom: question.room,
      as: exchange.call.isOperator ? nil : identity,
      ticket: LogRequest.Ticket(
        connection: Int32(exchange.id.stream), exchange: exchange.id.serial))
  }

  /// Takes the log's answers to such requests.
  func takeTraced() {
    for (ticket, result) in shard.takeTraced() {
      let id = ExchangeID(loop: index, stream: Int(ticket.connection), serial: ticket.exchange)
      switch result {
      case .found(let trace):
        survey(for: id) { loop in
          loop.shard.fanOut(of: trace.seq, inRoom: trace.room).map { (loop.index, $0) }
        } answer: { loop, fanOuts in
          let wall = loop.now.wall - (loop.now.microseconds - trace.received) / 1000
          let json = trace.json(receivedAt: wall, fanOuts: fanOuts.compactMap { $0 })
          return HTTPResponse(status: 200, json: json)
        }
      case .expired:
        let text =
          "The trace of this entry is not kept any longer: the relay has those of its last entries"
          + " since it started."
        exchange(id)?.finish(HTTPProblem(410, text, code: .noSuchEntry).response)
      case .refused(let error): exchange(id)?.finish(HTTPProblem(error).response)
      }
    }
  }
}

extension EntryTrace {
  /// Returns the trace as JSON, with times relative to that of receipt.
  /// - Parameter receivedAt: milliseconds since 1970.
  func json(receivedAt: Int64, fanOuts: [(loop: Int, fanOut: FanOut)]) -> [UInt8] {
    var json = Array(#"{"room":"#.utf8)
    json.append(jsonString: room)
    json += Array(#","seq":\#(seq),"from":"#.utf8)
    json.append(jsonString: from)
    json += Array(
      """
      ,"received_at":\(receivedAt),"batched_ms":\(milliseconds(stages.batched)),\
      "committed_ms":\(milliseconds(stages.committed)),"synced_ms":\(milliseconds(stages.synced)),\
      "batch_entries":\(batchEntries),"fanned_out":[
      """.utf8)
    for (index, (loop, fanOut)) in fanOuts.enumerated() {
      if index > 0 { json.append(UInt8(ascii: ",")) }
      json += Array(
        """
        {"loop":\(loop),"ms":\(milliseconds(fanOut.at)),"connections":\(fanOut.sessions),\
        "lagging":\(fanOut.lagging)}
        """.utf8)
    }
    json += Array("],\"members\":\(members)".utf8)
    if let traceparent { json += Array(",\"traceparent\":\"\(traceparent.text)\"".utf8) }
    append(receivedBy, "received_by", to: &json)
    append(readBy, "read_by", to: &json)
    json.append(UInt8(ascii: "}"))
    return json
  }

  private func append(_ users: [Acknowledgement]?, _ name: String, to json: inout [UInt8]) {
    guard let users else { return }
    json += Array(",\"\(name)\":[".utf8)
    for (index, user) in users.enumerated() {
      json += Array((index == 0 ? "" : ",").utf8)
      json += Array("{\"user\":".utf8)
      json.append(jsonString: user.user)
      if let at = user.at { json += Array(",\"ms\":\(milliseconds(at))".utf8) }
      json.append(UInt8(ascii: "}"))
    }
    json.append(UInt8(ascii: "]"))
  }

  /// Returns the milliseconds from receipt to a time, with three decimals.
  private func milliseconds(_ time: Int64) -> String {
    let microseconds = max(0, time - received)
    let decimals = String(microseconds % 1000 + 1000).dropFirst()
    return "\(microseconds / 1000).\(decimals)"
  }
}
