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
}
