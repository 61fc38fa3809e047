internal import Glibc

/// What connections cost in memory: the resident sets before the first of them, and when there were
/// most.
struct Footprint {
  private var ownBefore: Int?
  private var relayBefore: Int?
  private(set) var memory: Outcome.Memory?

  /// Nothing is known yet.
  init() {}

  /// Now, before the first connection.
  ///
  /// - Parameter relay: the relay's resident set, where its process is ours to look at.
  init(relay: Int?) {
    ownBefore = ResidentMemory.bytes(of: getpid())
    relayBefore = relay
  }

  /// Once a second: where there are more connections than ever before it looks. So what comes later
  /// for other reasons, such as entries that are kept, does not count, as far as the scenario lets
  /// everybody in before it begins to talk.
  mutating func look(connections: Int, relay: Int?) {
    guard connections > (memory?.connections ?? 0), connections >= Outcome.Memory.fewest,
      let ownBefore, let own = ResidentMemory.bytes(of: getpid())
    else { return }
    var new = Outcome.Memory(connections: connections, swarmBytes: max(0, own - ownBefore))
    if let relayBefore, let relay { new.relayBytes = max(0, relay - relayBefore) }
    memory = new
  }
}
