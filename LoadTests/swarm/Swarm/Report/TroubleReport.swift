/// The part of the report about chaos and hostile clients.
enum TroubleReport {
  static func lines(of outcome: Outcome) -> [String] {
    var lines = outcome.recoveries.map { recovery in
      let over =
        recovery.milliseconds.map { "99 % had recovered after \(Decimal.text($0)) ms" }
        ?? "99 % had NOT recovered before the end"
      let sends = recovery.unanswered > 0 ? " and \(recovery.unanswered) sends waiting" : ""
      let refusals =
        switch recovery.unavailable {
        case nil: ""
        case 0?: " no send was refused, the relay had reserved space;"
        case let count?: " \(count) sends were answered with \"unavailable\";"
        }
      return "\(recovery.step) at \(Decimal.text(recovery.seconds)) s:\(refusals)"
        + " \(recovery.disconnected) clients disconnected\(sends); \(over)"
    }
    for act in HostileAct.allCases {
      guard let count = outcome.hostilities[act] else { continue }
      lines.append(
        "hostile: \(count.done) \(act.rawValue) (\(count.attempted) attempted,"
          + " \(count.endedByRelay) ended by the relay)")
    }
    return lines
  }

  static func recovery(_ recovery: Outcome.Recovery, _ json: inout JSONText) {
    json.object { json in
      json.member("step", recovery.step)
      json.member("seconds", recovery.seconds)
      json.member("disconnected", Double(recovery.disconnected))
      json.member("unanswered", Double(recovery.unanswered))
      if let count = recovery.unavailable { json.member("unavailable", Double(count)) }
      if let milliseconds = recovery.milliseconds { json.member("recovered_ms", milliseconds) }
    }
  }

  static func hostilities(_ outcome: Outcome, _ json: inout JSONText) {
    for act in HostileAct.allCases {
      guard let count = outcome.hostilities[act] else { continue }
      json.member(act.rawValue) { json in
        json.object {
          $0.member("attempted", Double(count.attempted))
          $0.member("done", Double(count.done))
          $0.member("ended_by_relay", Double(count.endedByRelay))
        }
      }
    }
  }
}
