internal import Glibc

/// The memory cost of connections: the resident memory before the first connection, and at the peak
/// number of connections.
struct Footprint {
  private var ownBefore: Int?
  private var relayBefore: Int?
  private(set) var memory: Outcome.Memory?

  /// Creates a footprint without measurements.
  init() {}

  /// Measures the state before the first connection.
  ///
  /// - Parameter relay: The relay's resident memory, if swarm has started the relay.
  init(relay: Int?) {
    ownBefore = ResidentMemory.bytes(of: getpid())
    relayBefore = relay
  }

  /// Measures when the number of connections exceeds its peak; called once per second. So memory
  /// that grows later for other reasons, such as stored entries, does not count, provided that all
  /// clients of the scenario connect before they begin to send.
  mutating func look(connections: Int, relay: Int?) {
    guard connections > (memory?.connections ?? 0), connections >= Outcome.Memory.fewest,
      let ownBefore, let own = ResidentMemory.bytes(of: getpid())
    else { return }
    var new = Outcome.Memory(connections: connections, swarmBytes: max(0, own - ownBefore))
    if let relayBefore, let relay { new.relayBytes = max(0, relay - relayBefore) }
    memory = new
  }
}
