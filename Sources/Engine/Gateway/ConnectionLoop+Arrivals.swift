import Relay
import WebSocket

/// Connections that are not established: what they cost is paid by their address, and must not delay
/// the others.
///
/// A connection is established once one of its requests was authenticated. Until then its input is
/// processed at the end of a turn, after that of established connections, and at most
/// `arrivalCostLimit` per turn. A TLS handshake costs the relay a signature, and its client next to
/// nothing, so it waits until the client's address has a token of `limits.unauthenticated_per_s`. A
/// request that stays unauthenticated takes one, too. A connection that authenticates gets back what
/// its address has paid.
extension ConnectionLoop {
  /// The cost of the arrivals of one turn, in requests.
  static let arrivalCostLimit = 16
  /// The cost of a step of a TLS handshake: at most two in a turn, which take about a millisecond.
  static let handshakeCost = 8

  /// Lets a connection with input wait for the end of the turn.
  func enqueueArrival(_ index: ConnectionSlot) {
    guard !connections[index].arrival[.isQueued], !connections[index].arrival[.isHeld] else {
      return
    }
    connections[index].arrival[.isQueued] = true
    arrivals.append(index)
  }

  /// Processes the input of connections that are not established, in the order of their arrival.
  func readArrivals() {
    var cost = 0
    var count = 0
    while count < arrivals.count, cost < Self.arrivalCostLimit {
      let index = arrivals[count]
      count += 1
      guard connections.contains(index), connections[index].arrival[.isQueued] else { continue }
      connections[index].arrival[.isQueued] = false
      if world.isShakingHands(index.stream) {
        guard payForHandshake(index) else { continue }
        cost += Self.handshakeCost
      } else {
        cost += 1
      }
      read(index)
    }
    arrivals.removeFirst(count)
  }

  /// Charges a TLS handshake, once, to the address; holds the connection if that has no token.
  private func payForHandshake(_ index: ConnectionSlot) -> Bool {
    guard !connections[index].arrival[.hasPaidForHandshake], connections[index].peer == .client,
      let host = connections[index].host
    else { return true }
    // A client that has gone is not worth a signature.
    guard !connections[index].sawEnd else {
      remove(index)
      return false
    }
    guard context.addressBudgets.take(.request, bytes: 0, from: host, now: now.monotonic) == nil
    else {
      context.violations.count(.unauthenticatedPerSecond)
      connections[index].arrival[.isHeld] = true
      held.append(index)
      return false
    }
    connections[index].arrival[.hasPaidForHandshake] = true
    return true
  }

  /// Tries again for the connections whose address had no token, the oldest first.
  func releaseHeld() {
    let waiting = held
    held.removeAll(keepingCapacity: true)
    for index in waiting where connections.contains(index) && connections[index].arrival[.isHeld] {
      connections[index].arrival[.isHeld] = false
      enqueueArrival(index)
    }
  }

  /// Charges a request that is not authenticated.
  /// - Returns: `nil`, or the refusal, which has been counted.
  func chargeUnauthenticated(_ index: ConnectionSlot) -> HTTPProblem? {
    chargeAddress(of: index, in: context.addressBudgets, .unauthenticatedPerSecond)
  }

  /// Charges a request to the address of its client.
  /// - Returns: `nil`, or the refusal, which has been counted under the rule.
  func chargeAddress(
    of index: ConnectionSlot, in budgets: Budgets<HostKey>, _ rule: Violations.Rule
  ) -> HTTPProblem? {
    guard let host = connections[index].host,
      let wait = budgets.take(.request, bytes: 0, from: host, now: now.monotonic)
    else { return nil }
    context.violations.count(rule)
    return Self.tooManyRequests(wait)
  }

  /// Records that a connection has authenticated, and gives back what its address has paid for it.
  func recordEstablished(_ index: ConnectionSlot) {
    recordAuthenticated(index)
    connections[index].arrival[.isEstablished] = true
    let paid =
      (connections[index].arrival[.hasPaidForHandshake] ? 1 : 0)
      + (connections[index].arrival[.hasPaidForRequest] ? 1 : 0)
    guard paid > 0, let host = connections[index].host else { return }
    connections[index].arrival[.hasPaidForHandshake] = false
    connections[index].arrival[.hasPaidForRequest] = false
    context.addressBudgets.refund(requests: paid, to: host)
  }

  // MARK: - Proxies

  /// Counts a connection of a trusted proxy among those of the client that the proxy names, from this
  /// request on.
  /// - Returns: `nil`, or the limit that the client exceeds.
  func assignToClient(_ request: HTTPRequest, _ index: ConnectionSlot) -> Admission.Refusal? {
    guard connections[index].peer == .proxy, let host = connections[index].host else { return nil }
    let client = context.proxies.client(of: request)
    guard client != host else { return nil }
    if connections[index].isCountedAsUnauthenticated {
      connections[index].isCountedAsUnauthenticated = false
      context.admission.uncountUnauthenticated(host)
    }
    if let refusal = context.admission.move(from: host, to: client) { return refusal }
    connections[index].host = client
    return nil
  }
}
