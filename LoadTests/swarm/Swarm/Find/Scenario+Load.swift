internal import Platform
internal import YAML

/// Variants of a scenario with more load or a shorter duration.
extension Scenario {
  /// The settings of `swarm find`; see `find` in the file.
  public struct Find: Equatable, Sendable {
    /// The total duration of all phases in one run; `nil` as written.
    public var seconds: Double?
  }

  /// The highest message rate of all phases.
  public var peakMessagesPerSecond: Double { phases.map(\.messages.peak).max() ?? 0 }

  /// Returns the scenario with a multiple of the message rate.
  ///
  /// - Parameter clients: Whether to multiply the number of clients as well; they connect in the
  ///   same time. The number of rooms stays.
  public func loaded(_ factor: Double, clients scalesClients: Bool = false) -> Scenario {
    var scenario = self
    for index in phases.indices {
      scenario.phases[index].messages = phases[index].messages.scaled(by: factor)
    }
    guard scalesClients else { return scenario }
    for index in clients.indices {
      let count = (Double(clients[index].count) * factor).rounded()
      scenario.clients[index].count = max(1, Int(count))
    }
    let grown = Double(scenario.clientCount) / Double(clientCount)
    for index in phases.indices {
      scenario.phases[index].connections = phases[index].connections.scaled(
        by: grown * Self.roundingReserve)
    }
    return scenario
  }

  /// Returns the scenario with all phases shortened proportionally to this total duration. The
  /// number of connecting clients and the message rates stay. A scenario that is short enough is
  /// not changed.
  public func shortened(toSeconds seconds: Double) -> Scenario {
    let all = phases.reduce(0) { $0 + $1.milliseconds }
    let share = seconds * 1000 / Double(all)
    guard share < 1 else { return self }
    var scenario = self
    for index in phases.indices {
      let milliseconds = max(1, Int((Double(phases[index].milliseconds) * share).rounded()))
      scenario.phases[index].milliseconds = milliseconds
      scenario.phases[index].connections = phases[index].connections.scaled(
        by: Double(phases[index].milliseconds) / Double(milliseconds) * Self.roundingReserve)
    }
    for index in chaos.indices {
      scenario.chaos[index].atMilliseconds = Int(Double(chaos[index].atMilliseconds) * share)
    }
    return scenario
  }

  /// Returns the largest load that `swarm find` tries, and the reason for this limit.
  ///
  /// - Parameter asked: The limit of the command line.
  public func mostLoad(asked: Double?, scalingClients: Bool) throws -> (
    factor: Double, reason: String
  ) {
    mostLoad(
      asked: asked, scalingClients: scalingClients, descriptors: try DescriptorLimit.raise())
  }

  func mostLoad(asked: Double?, scalingClients: Bool, descriptors: Int)
    -> (factor: Double, reason: String)
  {
    var most = (factor: asked ?? 1024, reason: asked == nil ? "--max sets another" : "see --max")
    let rates = Self.rateLimit / max(peakMessagesPerSecond, 1)
    if rates < most.factor {
      most = (rates, "swarm plans at most \(Int(Self.rateLimit)) messages/s")
    }
    let clients = min(Self.clientLimit, descriptors - Self.descriptorReserve)
    let crowds = Double(clients) / Double(clientCount)
    if scalingClients, crowds < most.factor {
      most = (crowds, "this process can have at most \(clients) connections (ulimit -n)")
    }
    return (max(1, most.factor), most.reason)
  }

  /// For everything except the clients' connections.
  private static let descriptorReserve = 100

  /// Rounding must not turn 99.99 connections into 99, which would leave out one client.
  private static let roundingReserve = 1.001

  /// Reads the section `find`.
  static func find(_ node: YAMLNode, _ faults: inout [YAMLDocument.Fault]) -> Find {
    var fields = YAMLFields(node, at: "find", known: ["seconds"])
    let seconds = fields.optional("seconds", "expected a number, more than 0, at most 86400") {
      $0.number.flatMap { $0 > 0 && $0 <= 86_400 ? $0 : nil }
    }
    faults += fields.faults
    return Find(seconds: seconds)
  }
}

extension Scenario.Arrivals {
  func scaled(by factor: Double) -> Self {
    switch self {
    case .none: .none
    case .constant(let rate): .constant(rate * factor)
    case .poisson(let rate): .poisson(rate * factor)
    case .ramp(let from, let to): .ramp(from: from * factor, to: to * factor)
    case .spike(let base, let peak): .spike(base: base * factor, peak: peak * factor)
    }
  }

  /// The highest rate; of a random one the mean.
  var peak: Double {
    switch self {
    case .none: 0
    case .constant(let rate), .poisson(let rate): rate
    case .ramp(let from, let to): max(from, to)
    case .spike(let base, let peak): max(base, peak)
    }
  }
}

extension Plan {
  /// Why some messages cannot be sent; `nil` if all can.
  public var silence: String? {
    guard messagesLeftOut > 0 else { return nil }
    return
      "\(messagesLeftOut) of \(messageCount + messagesLeftOut) messages have no connected sender:"
      + " clients send from a second after they connect until a second before they disconnect."
      + " Give each run more time (--seconds, find.seconds), or add chatters"
  }
}
