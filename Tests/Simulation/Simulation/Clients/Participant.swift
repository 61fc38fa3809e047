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
  var linkEnd: (any LinkEnd)? { get }
  /// Handles what has arrived, does what is due, and schedules the next turn.
  func turn()
  /// From now on only finishes what it has begun.
  func stopActing()
  /// Whether everything is acknowledged, and everything has arrived.
  var isIdle: Bool { get }
  func checkIdle()
}

extension Participant {
  var linkEnd: (any LinkEnd)? { end }
  var link: Link? { linkEnd?.link }

  /// Schedules the next turn of the client with this index: at the earliest of these times, or in a
  /// millisecond if there is something to read or to write.
  /// - Parameter pause: the least number of milliseconds until then.
  func schedule(_ index: Int, at times: [Int64], in world: Simulation, pause: Int64 = 0) {
    let now = world.now.monotonic
    let next = linkEnd?.isBusy == true ? times + [now + 1] : times
    if let at = next.min() { world.wake(client: index, in: max(pause, at - now)) }
  }

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
