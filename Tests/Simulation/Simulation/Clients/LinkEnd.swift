internal import Relay

/// The client's end of a connection of either kind.
protocol LinkEnd: AnyObject {
  var link: Link { get }
  var hasSomethingToRead: Bool { get }
  /// The bytes that the link has not accepted yet.
  var output: [UInt8] { get set }
}

extension LinkEnd {
  /// Whether the client has to read or to write.
  var isBusy: Bool { hasSomethingToRead || !output.isEmpty }

  /// Passes as many bytes to the link as it accepts.
  func flush(_ world: Simulation) {
    guard !output.isEmpty else { return }
    let taken = link.toRelay.send(
      output[...], now: world.now.monotonic, maximumDelay: world.scenario.maximumDelay,
      using: &world.random)
    output.removeFirst(taken)
    world.scheduleArrival(link)
  }
}
