/// A measured latency; the raw value is its name in scenarios and reports.
public enum Measure: String, CaseIterable, Sendable {
  /// From the intended start of a connection to `welcome`.
  case connect
  /// From a client's request to join a room to its answer; only raw loads measure it.
  case join
  /// From the intended time of a send to its `ack`.
  case ack
  /// The same, of clients that had all their rooms at that time and stayed connected.
  case ackConnected = "ack_connected"
  /// From one `ack` to the next, of all clients, while clients recover from a step of chaos.
  case gap
  /// From the intended time of a send to its `message` at a client that was online.
  case deliver
  /// From the first attempt to reconnect until all rooms are joined again.
  case resume
  /// From `joined` of a returning client that lags, until it has the entry that was the head then.
  case catchUp = "catch_up"

  /// Its index among all measures.
  var index: Int {
    switch self {
    case .connect: 0
    case .ack: 1
    case .deliver: 2
    case .resume: 3
    case .catchUp: 4
    case .join: 5
    case .ackConnected: 6
    case .gap: 7
    }
  }
}

/// A reported percentile; the raw value is its name in scenarios and reports.
public enum Percentile: String, CaseIterable, Sendable {
  case p50, p90, p99
  case p999 = "p99_9"
  case p9999 = "p99_99"
  case max

  /// The value in percent.
  public var percent: Double {
    switch self {
    case .p50: 50
    case .p90: 90
    case .p99: 99
    case .p999: 99.9
    case .p9999: 99.99
    case .max: 100
    }
  }
}
