import Client

/// Whether the relay answers.
extension Chat {
  /// An answer that takes longer than this is overdue.
  static let overdueMilliseconds: Int64 = 2000

  /// Since when the relay owes an answer to a ping or a message, in milliseconds since 1970; `nil` if
  /// it owes none.
  var unansweredSince: Int64? {
    guard isLive else { return nil }
    let sent = outgoing.first { $0.refusal == nil }.map { max($0.at, times.connected) }
    guard let pinged = times.pinged else { return sent }
    return min(pinged, sent ?? pinged)
  }

  /// For how many seconds the relay has owed an answer that is overdue.
  var overdueSeconds: Int64? {
    guard let since = unansweredSince, now - since >= Self.overdueMilliseconds else { return nil }
    return (now - since) / 1000
  }

  /// When the number of seconds changes, in milliseconds since 1970.
  var healthDeadline: Int64 {
    guard let since = unansweredSince else { return .max }
    return since + max(Self.overdueMilliseconds, (now - since) / 1000 * 1000 + 1000)
  }

  mutating func reconnect(_ effects: inout [Effect]) {
    if case .ended = connection {
      complain("This connection has ended for good. Start wschat again.")
    } else {
      effects.append(.reconnect)
    }
  }
}
