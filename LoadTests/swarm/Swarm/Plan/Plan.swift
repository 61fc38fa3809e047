import Mixing

/// The complete schedule of a run, computed only from a scenario and its seed.
///
/// The schedule is fixed before the first byte is sent, which makes the load open: a relay that
/// slows down meets the same sends at the same times, and cannot make swarm wait for it.
public struct Plan: Equatable, Sendable {
  /// A room; its name also depends on the run.
  public enum Room: Equatable, Sendable {
    /// The n-th room of a group.
    case group(String, Int)
    /// The direct room of two clients.
    case direct(Int, Int)
  }

  /// A client.
  public struct Client: Equatable, Sendable {
    /// Its behaviour.
    public var persona: Scenario.Persona
    /// Indices of `Plan.rooms`.
    public var rooms: [Int]
  }

  /// A scheduled event.
  public struct Event: Equatable, Sendable {
    /// The kind of an event.
    public enum Kind: Equatable, Sendable {
      /// A phase begins.
      case phase(String)
      /// A client connects for the first time.
      case connect(client: Int)
      /// A client's connection breaks, and it is away until `wake`.
      case cut(client: Int)
      /// A client that was cut reconnects.
      case wake(client: Int)
      /// A client sends its next text; numbers begin at 1.
      case send(client: Int, room: Int, number: Int, textBytes: Int)
      /// A step of chaos, and the relay that it concerns if it concerns one.
      case chaos(Scenario.ChaosStep.Kind, relay: Int = 0)
      /// These clients lose their connections, if they have any.
      case reset(clients: [Int])
      /// The paused relay continues.
      case goOn(relay: Int)
      /// The full disk has space again.
      case freeDisk
      /// A hostile client performs its next act; the seed determines its bytes.
      case hostility(client: Int, act: HostileAct, seed: UInt64)
    }
    /// Nanoseconds from the start.
    public var at: UInt64
    /// The kind.
    public var kind: Kind
  }

  /// The name of its scenario.
  public var scenario: String
  /// The seed from which it was made.
  public var seed: UInt64
  /// All rooms with at least one client.
  public var rooms: [Room]
  /// All clients that connect.
  public var clients: [Client]
  /// In chronological order.
  public var events: [Event]
  /// The total duration of all phases, in nanoseconds.
  public var duration: UInt64
  /// The number of clients that do not connect because the phases' connection rates are too low.
  public var clientsLeftOut: Int
  /// The number of messages that are not sent because no client was present.
  public var messagesLeftOut: Int

  /// The number of clients that should be able to connect.
  public var honestCount: Int {
    clients.reduce(0) { $0 + ($1.persona.isHostile ? 0 : 1) } - clientsLeftOut
  }

  /// The number of messages that are sent.
  public var messageCount: Int {
    events.reduce(0) { if case .send = $1.kind { $0 + 1 } else { $0 } }
  }
}

extension Scenario.Arrivals {
  /// Returns the times of a phase's events, in nanoseconds from its beginning.
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
      // The n-th event occurs when the area under the rate reaches n.
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

  /// Returns the expected number of events until `time`.
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

/// The exponential distribution, computed without a mathematical library: those may differ in the
/// last bit between systems, and then a seed would not give the same plan everywhere.
enum Exponential {
  /// Returns -ln(1 - u) for u in [0, 1).
  static func sample(_ unit: Double) -> Double { -logarithm(1 - unit) }

  /// Returns the natural logarithm of a positive normal number, with an error below 1e-13.
  static func logarithm(_ value: Double) -> Double {
    // value = 2^e × m with m in [1, 2), and ln m = 2 artanh((m - 1)/(m + 1)).
    let ratio = (value.significand - 1) / (value.significand + 1)
    let square = ratio * ratio
    var sum = 0.0
    for power in stride(from: 31, through: 1, by: -2) { sum = sum * square + 1 / Double(power) }
    return Double(value.exponent) * 0.693_147_180_559_945_3 + 2 * ratio * sum
  }
}
