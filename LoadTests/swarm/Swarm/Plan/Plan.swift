import Mixing

/// Everything that a run will do, and when: computed from a scenario and its seed alone.
///
/// That it is fixed before the first byte is sent is what makes the load open: a relay that slows
/// down meets the same sends at the same times, and cannot make swarm wait for it.
public struct Plan: Equatable, Sendable {
  /// A room, named once it is known which run it belongs to.
  public enum Room: Equatable, Sendable {
    /// The n-th of a group.
    case group(String, Int)
    /// The direct room of two clients.
    case direct(Int, Int)
  }

  /// Somebody who connects.
  public struct Client: Equatable, Sendable {
    /// How they behave.
    public var persona: Scenario.Persona
    /// Indices of `Plan.rooms`.
    public var rooms: [Int]
  }

  /// One thing that happens.
  public struct Event: Equatable, Sendable {
    /// What happens.
    public enum Kind: Equatable, Sendable {
      /// A phase begins.
      case phase(String)
      /// A client connects for the first time.
      case connect(client: Int)
      /// A client's connection breaks, and it is away until `wake`.
      case cut(client: Int)
      /// A client that was cut comes back.
      case wake(client: Int)
      /// A client sends its next text: numbers begin at 1.
      case send(client: Int, room: Int, number: Int, textBytes: Int)
      /// Something is done to the relay.
      case chaos(Scenario.ChaosStep.Kind)
      /// These clients lose their connections, as far as they have any.
      case reset(clients: [Int])
      /// The relay that was stopped goes on.
      case goOn
      /// The disk that was filled has space again.
      case freeDisk
      /// A hostile client does the next thing; the seed is of its bytes.
      case hostility(client: Int, act: HostileAct, seed: UInt64)
    }
    /// Nanoseconds from the start.
    public var at: UInt64
    /// What.
    public var kind: Kind
  }

  /// The name of the scenario that it was made of.
  public var scenario: String
  /// Of which it was made.
  public var seed: UInt64
  /// All rooms that somebody is in.
  public var rooms: [Room]
  /// All clients that connect.
  public var clients: [Client]
  /// In the order of time.
  public var events: [Event]
  /// All phases together, in nanoseconds.
  public var duration: UInt64
  /// Clients for which the phases had no connection left.
  public var clientsLeftOut: Int
  /// Messages for which nobody was there to send them.
  public var messagesLeftOut: Int

  /// How many clients are to be let in.
  public var honestCount: Int {
    clients.reduce(0) { $0 + ($1.persona.isHostile ? 0 : 1) } - clientsLeftOut
  }

  /// How many messages are sent.
  public var messageCount: Int {
    events.reduce(0) { if case .send = $1.kind { $0 + 1 } else { $0 } }
  }
}

extension Scenario.Arrivals {
  /// The times at which something happens in a phase, in nanoseconds from its beginning.
  func times(milliseconds: Int, _ random: inout SplitMix64) -> [UInt64] {
    let seconds = Double(milliseconds) / 1000
    switch self {
    case .none: return []
    case .poisson(let rate):
      guard rate > 0 else { return [] }
      var times: [UInt64] = []
      var now = 0.0
      while true {
        now += Exponential.sample(random.unit()) / rate
        if now >= seconds { return times }
        times.append(UInt64(now * 1e9))
      }
    default:
      // The n-th one comes when the area under the rate has reached n.
      var times: [UInt64] = []
      let total = expected(until: seconds, of: seconds)
      var low = 0.0
      var count = 0.0
      while count < total.rounded(.down) {
        var (from, to) = (low, seconds)
        for _ in 0..<48 {
          let middle = (from + to) / 2
          if expected(until: middle, of: seconds) < count { from = middle } else { to = middle }
        }
        low = from
        times.append(UInt64(to * 1e9))
        count += 1
      }
      return times
    }
  }

  /// How many have come until then, on average.
  func expected(until time: Double, of seconds: Double) -> Double {
    switch self {
    case .none: return 0
    case .constant(let rate), .poisson(let rate): return rate * time
    case .ramp(let from, let to): return from * time + (to - from) * time * time / (2 * seconds)
    case .spike(let base, let peak):
      let inside = min(max(0, time - 0.4 * seconds), 0.2 * seconds)
      return base * time + (peak - base) * inside
    }
  }
}

/// The exponential distribution, without a mathematical library: these may differ in the last bit
/// from one system to the next, and then a seed would not mean the same plan any more.
enum Exponential {
  /// -ln(1 - u) for u in [0, 1).
  static func sample(_ unit: Double) -> Double { -logarithm(1 - unit) }

  /// The natural logarithm of a positive normal number, within 1e-13 of its true value.
  static func logarithm(_ value: Double) -> Double {
    // value = 2^e × m with m in [1, 2), and ln m = 2 artanh((m - 1)/(m + 1)).
    let ratio = (value.significand - 1) / (value.significand + 1)
    let square = ratio * ratio
    var sum = 0.0
    for power in stride(from: 31, through: 1, by: -2) { sum = sum * square + 1 / Double(power) }
    return Double(value.exponent) * 0.693_147_180_559_945_3 + 2 * ratio * sum
  }
}
