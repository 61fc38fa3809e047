import EventLoop
import Synchronization

/// How many connections there are, in all and from each address; shared by the loops.
final class Admission: Sendable {
  private struct Counts {
    var total = 0
    var byHost: [Address.HostKey: Int] = [:]
    var unidentifiedByHost: [Address.HostKey: Int] = [:]
  }
  private let counts = Mutex(Counts())
  private let limits: Configuration.Limits

  init(limits: Configuration.Limits) { self.limits = limits }

  /// Counts a connection in; `nil`, or a sentence that says which limit is reached.
  func admit(_ host: Address.HostKey) -> String? {
    counts.withLock { counts in
      if limits.connections > 0, counts.total >= limits.connections {
        return "This relay serves \(limits.connections) connections, and no more fit; try later.\n"
      }
      let fromHost = counts.byHost[host, default: 0]
      if limits.connectionsPerAddress > 0, fromHost >= limits.connectionsPerAddress {
        return
          "\(limits.connectionsPerAddress) connections come from this address, and no more are taken.\n"
      }
      counts.total += 1
      counts.byHost[host] = fromHost + 1
      return nil
    }
  }

  func leave(_ host: Address.HostKey) {
    counts.withLock { counts in
      counts.total -= 1
      Self.decrement(&counts.byHost, host)
    }
  }

  /// Counts a connection that has not said in time who it is; `false` where there are too many.
  func countUnidentified(_ host: Address.HostKey) -> Bool {
    counts.withLock { counts in
      let count = counts.unidentifiedByHost[host, default: 0]
      if limits.unauthenticatedPerAddress > 0, count >= limits.unauthenticatedPerAddress {
        return false
      }
      counts.unidentifiedByHost[host] = count + 1
      return true
    }
  }

  func uncountUnidentified(_ host: Address.HostKey) {
    counts.withLock { Self.decrement(&$0.unidentifiedByHost, host) }
  }

  private static func decrement(_ table: inout [Address.HostKey: Int], _ host: Address.HostKey) {
    guard let count = table[host] else { return }
    table[host] = count > 1 ? count - 1 : nil
  }
}
