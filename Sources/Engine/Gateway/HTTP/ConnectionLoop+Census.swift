import Relay
import WebSocket
import Wire

/// `GET /v1/connections`: who is connected, and which rooms are busy, for operators.
extension ConnectionLoop {
  /// The most connections in an answer; those with most bytes queued come first.
  static let censusLimit = 200
  private static let busyRoomsLimit = 20

  /// A connection as the answer has it.
  private struct Listed: Sendable {
    /// Names it to operators; `nil` for a bot's, which comes back at once.
    var name: String?
    var session: SessionCensus
    var address: String?
    var transport: String
  }

  func surveyConnections(of user: String?, for exchange: HTTPExchange) {
    survey(for: exchange.id) {
      $0.census(of: user)
    } answer: { loop, parts in
      let all = parts.flatMap(\.listed).sorted { $0.session.precedes($1.session) }
      let rooms = loop.shard.busiestRooms(limit: Self.busyRoomsLimit, now: loop.now)
      let total = parts.reduce(0) { $0 + $1.total }
      return HTTPResponse(
        status: 200, json: Self.json(Array(all.prefix(Self.censusLimit)), total, rooms))
    }
  }

  private func census(of user: String?) -> (listed: [Listed], total: Int) {
    let (sessions, total) = shard.census(of: user, limit: Self.censusLimit)
    let listed = sessions.map { session in
      let connection = connections[Int(session.connection)]
      return Listed(
        name: connection?.bot == nil ? name(of: session.id) : nil, session: session,
        address: connection?.host.map { "\($0)" },
        transport: connection.map(Self.transport) ?? "http")
    }
    return (listed, total)
  }

  private static func json(
    _ listed: [Listed], _ total: Int, _ rooms: [(room: String, entriesPerSecond: Double)]
  ) -> [UInt8] {
    var json = Array("{\"total\":\(total),\"connections\":[".utf8)
    for (place, one) in listed.enumerated() {
      json += Array((place == 0 ? "" : ",").utf8)
      json += Array("{\"user\":".utf8)
      json.append(jsonString: one.session.user)
      if let name = one.name { json += Array(",\"connection\":\"\(name)\"".utf8) }
      if let address = one.address { json += Array(",\"address\":\"\(address)\"".utf8) }
      json += Array(
        """
        ,"transport":"\(one.transport)","rooms":\(one.session.subscriptions),\
        "lagging":\(one.session.lagging),"queued_bytes":\(one.session.queuedBytes)\
        \(one.session.isAway ? ",\"away\":true" : "")}
        """.utf8)
    }
    json += Array("],\"rooms\":[".utf8)
    for (place, busy) in rooms.enumerated() {
      json += Array((place == 0 ? "" : ",").utf8)
      json += Array("{\"room\":".utf8)
      json.append(jsonString: busy.room)
      let tenths = Int((busy.entriesPerSecond * 10).rounded(.up))
      json += Array(",\"entries_per_s\":\(tenths / 10).\(tenths % 10)}".utf8)
    }
    return json + Array("]}".utf8)
  }
}
