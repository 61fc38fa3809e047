import Hostile
import Relay
import Wire

/// Chooses by the fuzzer's bytes.
private struct ByteChooser: Chooser {
  var input: FuzzInput
  mutating func choose(_ count: Int) -> Int {
    var number = Int(input.choice())
    if count > 256 { number = number << 8 | Int(input.choice()) }
    return number % count
  }
}

/// Input: a byte for the limits; then operations, each with its parameters: messages from a grammar
/// and raw ones, turns, time, connections that come and go, directories, a full disk, sockets that
/// accept nothing, and floods.
enum RelayTarget {
  /// More operations find nothing new.
  private static let operationLimit = 200
  private static let floods = [2, 20, 120, 400, 2000]
  private static let pages = [1, 2, 3, 500]

  static func check(_ input: FuzzInput) throws(FuzzFinding) {
    var chooser = ByteChooser(input: input)
    var relay = RelayHarness(choice: chooser.input.choice())
    var operations = 0
    // One flood is expensive enough.
    var floodsLeft = 3
    while !chooser.input.rest.isEmpty, operations < operationLimit {
      operations += 1
      switch chooser.choose(24) {
      case 0..<8:
        let session = chooser.choose(relay.clients.count)
        let message = relay.grammar.message(&chooser)
        relay.send(message, from: session)
      case 8, 9:
        // A message with some bytes changed, or one of arbitrary bytes.
        let session = chooser.choose(relay.clients.count)
        var message = relay.grammar.message(&chooser)
        if chooser.choose(4) == 3 { message = [] }
        for _ in 0...chooser.choose(8) {
          let byte = UInt8(chooser.choose(256))
          if message.isEmpty || chooser.choose(4) == 3 {
            message.append(byte)
          } else {
            message[chooser.choose(min(message.count, 256))] = byte
          }
        }
        relay.send(message, from: session)
      case 10..<14: try relay.turn()
      case 14: relay.advance(Int64(chooser.choose(256)) * 40)
      case 15: relay.disconnect(chooser.choose(relay.clients.count))
      case 16, 17: relay.connect(.init(rawValue: chooser.choose(4)) ?? .socket)
      case 18: relay.setDirectory(count: [0, 1, 3, 60, 300][chooser.choose(5)])
      case 19: relay.toggleDisk()
      case 20: relay.toggleSocket(chooser.choose(relay.clients.count))
      default:
        guard floodsLeft > 0 else { continue }
        floodsLeft -= 1
        let count = Self.floods[chooser.choose(Self.floods.count)]
        let flood = RelayHarness.Flood(rawValue: chooser.choose(4)) ?? .edits
        try relay.flood(flood, count: count, page: Self.pages[chooser.choose(Self.pages.count)])
      }
    }
    try relay.finish()
  }
}
