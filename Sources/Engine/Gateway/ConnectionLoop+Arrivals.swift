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
  func enqueueArrival(_ connection: ServerConnection) {
    guard !connection.arrival[.isQueued], !connection.arrival[.isHeld] else {
      return
    }
    assert(!connection.arrival[.isEstablished], "input of an established connection does not wait")
    connection.arrival[.isQueued] = true
    arrivals.append(connection)
  }

  /// Processes the input of connections that are not established, in the order of their arrival.
  func readArrivals() {
    if arrivals.isEmpty { return }
    let began = world.microseconds
    defer { arrivalCost.record(microseconds: world.microseconds - began) }
    var cost = 0
    var count = 0
    while count < arrivals.count, cost < Self.arrivalCostLimit {
      let connection = arrivals[count]
      count += 1
      guard !connection.isGone, connection.arrival[.isQueued] else { continue }
      connection.arrival[.isQueued] = false
      if world.isShakingHands(connection.stream) {
        guard payForHandshake(connection) else { continue }
        cost += Self.handshakeCost
      } else {
        cost += 1
      }
      read(connection)
    }
    arrivals.removeFirst(count)
  }

  /// Charges a TLS handshake, once, to the address; holds the connection if that has no token.
  private func payForHandshake(_ connection: ServerConnection) -> Bool {
    guard !connection.arrival[.hasPaidForHandshake], connection.peer == .client,
      let host = connection.host
    else { return true }
    // A client that has gone is not worth a signature.
    guard !connection.sawEnd else {
      remove(connection)
      return false
    }
    guard context.addressBudgets.take(.request, bytes: 0, from: host, now: now.monotonic) == nil
    else {
      countViolation(.unauthenticatedPerSecond, by: connection)
      connection.arrival[.isHeld] = true
      held.append(connection)
      return false
    }
    connection.arrival[.hasPaidForHandshake] = true
    return true
  }

  /// Tries again for the connections whose address had no token, the oldest first.
  func releaseHeld() {
    let waiting = held
    held.removeAll(keepingCapacity: true)
    for connection in waiting where !connection.isGone && connection.arrival[.isHeld] {
      connection.arrival[.isHeld] = false
      enqueueArrival(connection)
    }
  }

  /// Charges a request that is not authenticated.
  /// - Returns: `nil`, or the refusal, which has been counted.
  func chargeUnauthenticated(_ connection: ServerConnection) -> HTTPProblem? {
    chargeAddress(of: connection, in: context.addressBudgets, .unauthenticatedPerSecond)
  }

  /// Charges a request to the address of its client.
  /// - Returns: `nil`, or the refusal, which has been counted under the rule.
  func chargeAddress(
    of connection: ServerConnection, in budgets: Budgets<HostKey>, _ rule: Violations.Rule
  ) -> HTTPProblem? {
    guard let host = connection.host,
      let wait = budgets.take(.request, bytes: 0, from: host, now: now.monotonic)
    else { return nil }
    countViolation(rule, by: connection)
    return .tooManyRequests(wait)
  }

  /// Records that a connection has authenticated, and gives back what its address has paid for it.
  func recordEstablished(_ connection: ServerConnection) {
    arrivalCost.recordClient()
    recordAuthenticated(connection)
    connection.arrival[.isEstablished] = true
    let paid =
      (connection.arrival[.hasPaidForHandshake] ? 1 : 0)
      + (connection.arrival[.hasPaidForRequest] ? 1 : 0)
    guard paid > 0, let host = connection.host else { return }
    connection.arrival[.hasPaidForHandshake] = false
    connection.arrival[.hasPaidForRequest] = false
    context.addressBudgets.refund(requests: paid, to: host)
  }

  /// Ends the limits that apply to an unauthenticated connection.
  func recordAuthenticated(_ connection: ServerConnection) {
    connection.isAuthenticated = true
    connection.deadline = 0
    if connection.isCountedAsUnauthenticated, let host = connection.host {
      connection.isCountedAsUnauthenticated = false
      context.admission.uncountUnauthenticated(host)
    }
  }

  // MARK: - Proxies

  /// Counts a connection of a trusted proxy among those of the client that the proxy has named before the
  /// first byte, as if that client had connected itself: it is a proxy only if it is trusted, too.
  /// - Parameter client: `nil` = the proxy itself.
  func assign(_ connection: ServerConnection, to client: ProxyChain.Hop?) {
    if let client, let proxy = connection.host {
      report(connection, "A proxy names its client.", [LogField("address", "\(client.host)")])
      if let refusal = context.admission.move(
        from: proxy, to: client.host, isProxy: client.isTrusted)
      {
        countViolation(refusal.rule, by: connection)
        return refuseUnasked(connection, refusal.text)
      }
      connection.host = client.host
      connection.arrival[.isProxy] = client.isTrusted
    }
    // What follows may be in the socket, and is reported no more.
    enqueueArrival(connection)
  }

  /// Counts a connection of a trusted proxy among those of the client that the proxy names, from this
  /// request on.
  /// - Returns: `nil`, or the limit that the client exceeds.
  func assignToClient(_ request: HTTPRequest, _ connection: ServerConnection) -> Admission.Refusal?
  {
    guard connection.peer == .proxy, let host = connection.host else { return nil }
    let client = context.proxies.client(of: request)
    guard client != host else { return nil }
    if connection.isCountedAsUnauthenticated {
      connection.isCountedAsUnauthenticated = false
      context.admission.uncountUnauthenticated(host)
    }
    if let refusal = context.admission.move(from: host, to: client) { return refusal }
    connection.host = client
    return nil
  }
}
