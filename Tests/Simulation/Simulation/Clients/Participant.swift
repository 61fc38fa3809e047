internal import Mixing
internal import Relay
internal import Wire

/// A client of the relay.
protocol Participant: AnyObject {
  var name: String { get }
  var user: String { get }
  /// The connection, if it is a WebSocket.
  var end: ClientEnd? { get }
  /// The connection, of either kind.
  var link: Link? { get }
  /// Handles what has arrived, does what is due, and schedules the next turn.
  func turn()
  /// From now on only finishes what it has begun.
  func stopActing()
  /// Whether everything is acknowledged, and everything has arrived.
  var isIdle: Bool { get }
  func checkIdle()
}

extension Participant {
  var link: Link? { end?.link }

  func room(in rooms: [String], using random: inout SplitMix64) -> String {
    rooms.filter { RoomName.isOpen($0, to: user) }.randomElement(using: &random) ?? "a"
  }
}

/// The texts that clients send: distinguished by a number, of any length.
enum Speech {
  static func text(_ name: String, _ number: Int, using random: inout SplitMix64) -> String {
    let size = Int.random(in: 0..<100, using: &random)
    let bytes = size < 4 ? 6000 : size < 20 ? 600 : 40
    let count = Int.random(in: 0...bytes, using: &random)
    return "\(name) \(number) " + String(repeating: "é", count: count / 2)
  }
}
