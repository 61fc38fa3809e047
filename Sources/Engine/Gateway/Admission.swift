import Synchronization

/// Counts the connections of the process, in total and by address, and enforces their limits.
/// Shared by the loops.
package final class Admission: Sendable {
  private struct Counts {
    var total = 0
    var accepted = 0
    var byHost: [HostKey: Int] = [:]
    var unauthenticatedByHost: [HostKey: Int] = [:]
    var unauthenticated = 0
  }
  private let counts = Mutex(Counts())
  private let limits: ConnectionLimits
  /// Descriptors from this number on are reserved for the relay itself.
  private let descriptorsEnd: Int32

  /// - Parameter descriptors: the number of descriptors that this process may open; `nil` if
  ///   unknown. Some are kept from clients: the log and bots need theirs even under overload, and
  ///   connections beyond the limit have to be accepted before they can be rejected with a reason.
  package init(limits: ConnectionLimits, descriptors: Int?) {
    self.limits = limits
    descriptorsEnd = Int32(clamping: descriptors.map { $0 - min(64, $0 / 8) } ?? .max)
  }

  /// The number of current connections, of those that are unauthenticated, and of all connections
  /// accepted so far.
  package var census: (total: Int, unauthenticated: Int, accepted: Int) {
    counts.withLock { ($0.total, $0.unauthenticated, $0.accepted) }
  }

  /// The reason for which a connection is rejected.
  package struct Refusal {
    package var rule: Violations.Rule
    /// A sentence for the client.
    package var text: String
    /// For the operator, as in `Violations.count`.
    package var reason: String?

    package init(rule: Violations.Rule, text: String, because reason: String? = nil) {
      self.rule = rule
      self.text = text
      self.reason = reason
    }
  }

  /// Counts a new connection; returns `nil`, or the limit that it exceeds.
  /// - Parameters:
  ///   - descriptor: the connection's. The system assigns the lowest free number, so a high one shows
  ///     how many are in use.
  ///   - isProxy: whether it is a trusted proxy's, of which there may be any number: `move` counts it
  ///     for its client.
  package func admit(
    _ host: HostKey, descriptor: Int32, isProxy: Bool = false
  ) -> Refusal? {
    guard descriptor < descriptorsEnd else {
      return Refusal(
        rule: .descriptors,
        text: "The relay has no file descriptors left; try again later.\n")
    }
    return counts.withLock { counts in
      if limits.connections > 0, counts.total >= limits.connections {
        return Refusal(
          rule: .connections,
          text: "The limit of \(limits.connections) connections is reached; try again later.\n"
        )
      }
      if !isProxy, let refusal = refusal(of: host, counts) { return refusal }
      counts.total += 1
      counts.accepted += 1
      counts.byHost[host, default: 0] += 1
      return nil
    }
  }

  private func refusal(of host: HostKey, _ counts: Counts) -> Refusal? {
    let limit = limits.connectionsPerAddress
    guard limit > 0, counts.byHost[host, default: 0] >= limit else { return nil }
    return Refusal(
      rule: .connectionsPerAddress,
      text: "The limit of \(limit) connections per address is reached.\n")
  }

  /// Counts a proxy's connection for its client; returns `nil`, or the limit that the client exceeds:
  /// then nothing changes.
  /// - Parameter isProxy: whether the client is a trusted proxy itself, as in `admit`.
  func move(from proxy: HostKey, to client: HostKey, isProxy: Bool = false) -> Refusal? {
    counts.withLock { counts in
      if !isProxy, let refusal = refusal(of: client, counts) { return refusal }
      Self.decrement(&counts.byHost, proxy)
      counts.byHost[client, default: 0] += 1
      return nil
    }
  }

  package func leave(_ host: HostKey) {
    counts.withLock { counts in
      counts.total -= 1
      assert(counts.total >= 0, "a connection leaves once")
      Self.decrement(&counts.byHost, host)
    }
  }

  /// Counts a connection that has not authenticated in time; returns `false` if its address has too
  /// many.
  func countUnauthenticated(_ host: HostKey) -> Bool {
    counts.withLock { counts in
      let count = counts.unauthenticatedByHost[host, default: 0]
      if limits.unauthenticatedPerAddress > 0, count >= limits.unauthenticatedPerAddress {
        return false
      }
      counts.unauthenticatedByHost[host] = count + 1
      counts.unauthenticated += 1
      return true
    }
  }

  func uncountUnauthenticated(_ host: HostKey) {
    counts.withLock { counts in
      counts.unauthenticated -= 1
      assert(counts.unauthenticated >= 0, "a connection is uncounted once")
      Self.decrement(&counts.unauthenticatedByHost, host)
    }
  }

  private static func decrement(_ table: inout [HostKey: Int], _ host: HostKey) {
    guard let count = table[host] else {
      return assertionFailure("the connections of an address are counted before they leave")
    }
    table[host] = count > 1 ? count - 1 : nil
  }
}
