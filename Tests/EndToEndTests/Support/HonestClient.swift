import Glibc
import Testing

/// Says something now and then, and measures how long the relay takes to store it.
final class HonestClient: CustomStringConvertible {
  /// A pause that keeps a client within its limits.
  private static let pause = Duration.milliseconds(55)

  private let relay: RelayProcess
  private let client: RawClient
  private var sent = 0
  private(set) var longestAnswer = Duration.zero
  private(set) var longestConnect = Duration.zero
  /// How late the test itself was, because of the machine and not the relay.
  private(set) var longestOversleep = Duration.zero

  init(_ relay: RelayProcess) throws {
    self.relay = relay
    client = try RawClient(relay, user: "honest")
    _ = try client.join("honest")
  }

  func forget() { (longestAnswer, longestConnect, longestOversleep) = (.zero, .zero, .zero) }

  /// Sends and waits for the ack; `connecting` on a connection of its own as well.
  func probe(connecting: Bool = false) throws {
    let clock = ContinuousClock()
    sent += 1
    longestAnswer = try max(
      longestAnswer, clock.measure { try client.say("probe", in: "honest", id: "\(sent)") })
    if connecting {
      longestConnect = try max(
        longestConnect,
        clock.measure {
          _ = try RawClient(relay, user: "newcomer").history("honest", limit: 1)
        })
    }
    let slept = clock.measure { usleep(useconds_t(Self.pause / .microseconds(1))) }
    longestOversleep = max(longestOversleep, slept - Self.pause)
  }

  var description: String {
    func milliseconds(_ duration: Duration) -> Int { Int(duration / .milliseconds(1)) }
    return "longest answer \(milliseconds(longestAnswer)) ms, "
      + "new connection \(milliseconds(longestConnect)) ms "
      + "(the test itself was late by \(milliseconds(longestOversleep)) ms)"
  }
}
