import Synchronization

/// The rate limits of one user over all connections, loops and HTTP: three token buckets, and the
/// order in which connections are read while one of them is empty.
///
/// A client that sends too much is slowed, not refused: while a bucket is empty, none of the user's
/// connections is read from. When there is a token again, the connection that was served least
/// recently is read first, so that a runaway script does not silence a phone.
///
/// Every method takes a lock, for which only connections of the same user contend.
public final class UserBudget: Sendable {
  /// 0 = no limit.
  public struct Limits: Equatable, Sendable {
    /// Sustained sends over all connections; beyond it the user is slowed.
    public var sendsPerSecond = 20
    /// The burst of sends.
    public var burst = 40
    /// All other requests, and duplicate sends; a separate bucket.
    public var requestsPerSecond = 50
    /// Bytes of input per second, after decompression; a third bucket.
    public var bytesPerSecond = 262_144
    /// Concurrent connections.
    public var connections = 50
    public init() {}

    /// A limit of requests only.
    public static func requests(perSecond: Int) -> Limits {
      var limits = Limits()
      limits.requestsPerSecond = perSecond
      (limits.sendsPerSecond, limits.bytesPerSecond, limits.connections) = (0, 0, 0)
      return limits
    }

    /// Whether no limit applies.
    var isUnlimited: Bool {
      sendsPerSecond == 0 && requestsPerSecond == 0 && bytesPerSecond == 0 && connections == 0
    }
  }

  /// The limit that holds a connection back.
  public enum Bucket: Sendable { case sends, requests, bytes }

  package struct Buckets {
    package var sends: TokenBucket
    package var requests: TokenBucket
    package var bytes: TokenBucket
  }

  /// The kind of a message for charging.
  public enum Charge: Sendable { case send, request }

  /// The reason for which a connection is not read, and the minimum duration.
  struct Delay {
    var bucket: Bucket?
    var milliseconds: Int64
  }

  /// What a user may spend. Users whose budgets are not observed have the same object.
  package final class Terms: Sendable {
    package let limits: Limits
    package let sends: TokenBucket.Rate
    package let requests: TokenBucket.Rate
    package let bytes: TokenBucket.Rate
    let observer: (any BudgetObserver)?

    init(_ limits: Limits, observer: (any BudgetObserver)? = nil) {
      self.limits = limits
      sends = TokenBucket.Rate(perSecond: limits.sendsPerSecond, burst: limits.burst)
      requests = TokenBucket.Rate(
        perSecond: limits.requestsPerSecond, burst: limits.requestsPerSecond)
      bytes = TokenBucket.Rate(perSecond: limits.bytesPerSecond, burst: limits.bytesPerSecond)
      self.observer = observer
    }
  }

  private struct State {
    let terms: Terms
    var buckets: Buckets
    /// Milliseconds of the monotonic clock.
    var refilledAt: Int64
    /// The last rank that was assigned.
    var lastRank: UInt64 = 0
    /// The ranks of the connections that have input and are not read, ascending; at most as many as
    /// the user has connections.
    var waiting: [UInt64] = []
    /// HTTP has one rank, like a connection that never waits.
    var rankOfHTTP: UInt64 = 0
    private(set) var connections: Int32 = 0

    init(_ terms: Terms, now: Int64) {
      self.terms = terms
      buckets = Buckets(
        sends: TokenBucket(terms.sends), requests: TokenBucket(terms.requests),
        bytes: TokenBucket(terms.bytes))
      refilledAt = now
    }

    mutating func refill(_ now: Int64) {
      // The loops that share a budget read the clock at different times.
      guard now > refilledAt else { return }
      let milliseconds = now - refilledAt
      refilledAt = now
      terms.observer?.willRefill(&buckets, milliseconds, at: terms, now)
      buckets.sends.refill(milliseconds, at: terms.sends)
      buckets.requests.refill(milliseconds, at: terms.requests)
      buckets.bytes.refill(milliseconds, at: terms.bytes)
    }

    mutating func nextRank() -> UInt64 {
      lastRank += 1
      return lastRank
    }

    /// The empty bucket with the longest wait; `nil` if none is empty.
    func delay(_ now: Int64) -> Delay? {
      guard
        buckets.sends.isEmpty(at: terms.sends) || buckets.requests.isEmpty(at: terms.requests)
          || buckets.bytes.isEmpty(at: terms.bytes)
      else { return nil }
      var delay = Delay(bucket: .sends, milliseconds: wait(.sends, now))
      for bucket in [Bucket.requests, .bytes] {
        let wait = wait(bucket, now)
        if wait > delay.milliseconds { delay = Delay(bucket: bucket, milliseconds: wait) }
      }
      return delay
    }

    /// Milliseconds until a bucket has a token; 0 if it has one.
    func wait(_ bucket: Bucket, _ now: Int64) -> Int64 {
      let wait =
        switch bucket {
        case .sends: buckets.sends.wait(at: terms.sends)
        case .requests: buckets.requests.wait(at: terms.requests)
        case .bytes: buckets.bytes.wait(at: terms.bytes)
        }
      return terms.observer?.prolong(wait, for: bucket, now) ?? wait
    }

    mutating func charge(sends sent: Int = 0, requests asked: Int = 0, bytes count: Int = 0) {
      buckets.sends.charge(sent, at: terms.sends)
      buckets.requests.charge(asked, at: terms.requests)
      buckets.bytes.charge(count, at: terms.bytes)
      terms.observer?.record(sends: sent, requests: asked, bytes: count)
    }

    mutating func countConnections(_ change: Int32) {
      connections += change
      assert(connections >= 0, "a connection ends once")
      terms.observer?.record(connections: Int(connections))
    }

    mutating func setWaiting(_ rank: UInt64, _ isWaiting: Bool) {
      let place = waiting.partitioningIndex { $0 >= rank }
      let isThere = place < waiting.count && waiting[place] == rank
      if isWaiting, !isThere {
        waiting.insert(rank, at: place)
      } else if !isWaiting, isThere {
        waiting.remove(at: place)
      }
    }
  }

  /// The maximum debt that HTTP may leave, as the time to pay it off.
  private static let debtMilliseconds: Int64 = 1000

  private let state: Mutex<State>

  init(_ terms: Terms, now: Int64) {
    state = Mutex(State(terms, now: now))
  }

  // MARK: - Connections

  /// Counts a new connection.
  /// - Returns: its rank: of the waiting connections, the one with the lowest rank is served first.
  ///   A new one ranks after the existing ones, so reconnecting gains nothing. `nil` if the user
  ///   has reached the limit of connections.
  func connect(now: Int64) -> UInt64? {
    state.withLock { state in
      let elsewhere = state.terms.observer?.connectionsElsewhere(now) ?? 0
      let limit = state.terms.limits.connections
      if limit > 0, Int(state.connections) + elsewhere >= limit { return nil }
      state.countConnections(1)
      return state.nextRank()
    }
  }

  /// Counts a connection that has ended.
  /// - Returns: whether it was the last one.
  func disconnect(_ rank: UInt64) -> Bool {
    state.withLock { state in
      state.countConnections(-1)
      state.setWaiting(rank, false)
      return state.connections == 0
    }
  }

  /// Whether the user has no connection.
  var isUnconnected: Bool { state.withLock { $0.connections == 0 } }

  /// Removes a waiting connection, which is not to be read any more.
  func withdraw(_ rank: UInt64) {
    state.withLock { $0.setWaiting(rank, false) }
  }

  /// Returns how long the next message of a connection has to wait; `nil` if it may be read now. A
  /// connection that has to wait counts as waiting until a later call allows it to be read, or
  /// until `withdraw`.
  /// - Parameters:
  ///   - keepsPlace: the connection is only notified now, and asks again before it is read; until
  ///     then connections that wait on other loops rank after it.
  ///   - now: milliseconds of the monotonic clock.
  func delay(_ rank: UInt64, keepsPlace: Bool = false, now: Int64) -> Delay? {
    state.withLock { state in
      state.refill(now)
      if let delay = state.delay(now) {
        state.setWaiting(rank, true)
        return delay
      }
      guard let first = state.waiting.first else { return nil }
      if first < rank {
        // Its loop is about to read it.
        state.setWaiting(rank, true)
        return Delay(bucket: nil, milliseconds: 1)
      }
      if first == rank, !keepsPlace { state.waiting.removeFirst() }
      return nil
    }
  }

  /// Charges for a message that was read.
  /// - Parameter bytes: the length of the message after decompression.
  /// - Returns: the connection's new rank.
  func charge(_ charge: Charge, bytes: Int) -> UInt64 {
    state.withLock { state in
      switch charge {
      case .send: state.charge(sends: 1, bytes: bytes)
      case .request: state.charge(requests: 1, bytes: bytes)
      }
      return state.nextRank()
    }
  }

  /// Charges for a request that costs as much as several.
  func chargeRequests(_ count: Int) {
    state.withLock { $0.charge(requests: count) }
  }

  /// See `Budgets.refundDuplicate`.
  func refundDuplicate() {
    state.withLock { state in
      state.buckets.sends.refund(at: state.terms.sends)
      state.terms.observer?.record(sends: -1, requests: 0, bytes: 0)
      state.charge(requests: 1)
    }
  }

  // MARK: - HTTP

  /// See `Budgets.take`.
  func take(sends: Int, requests: Int, bytes: Int, now: Int64) -> Int64? {
    state.withLock { state in
      state.refill(now)
      let wait = max(
        sends > 0 ? state.wait(.sends, now) : 0, requests > 0 ? state.wait(.requests, now) : 0,
        state.wait(.bytes, now))
      let first = state.waiting.first
      // A script on a WebSocket takes each token as it comes. So if HTTP was served least recently,
      // one request may leave a debt, after which every waiting connection has a turn before the
      // next request.
      let isNext = first.map { state.rankOfHTTP < $0 } ?? false
      if wait > 0, !isNext || wait > Self.debtMilliseconds { return wait }
      // Nor may a script over HTTP take each token before a waiting connection gets it.
      if first != nil, !isNext { return 1 }
      state.charge(sends: sends, requests: requests, bytes: bytes)
      state.rankOfHTTP = state.nextRank()
      return nil
    }
  }

  /// See `Budgets.refund`.
  func refundRequest() {
    state.withLock { $0.buckets.requests.refund(at: $0.terms.requests) }
  }

  /// Whether the budget has recovered completely, so that it need not be kept.
  func isFull(_ now: Int64) -> Bool {
    state.withLock { state in
      state.refill(now)
      let (terms, buckets) = (state.terms, state.buckets)
      return state.connections == 0 && buckets.sends.isFull(at: terms.sends)
        && buckets.requests.isFull(at: terms.requests) && buckets.bytes.isFull(at: terms.bytes)
        && terms.observer?.isFull(now) != false
    }
  }

  /// Returns the observer, for which the buckets are refilled.
  func observer(now: Int64) -> (any BudgetObserver)? {
    state.withLock { state in
      state.refill(now)
      return state.terms.observer
    }
  }
}

/// Observes what one user spends, and may charge the user's budget as well. The budget calls it with
/// its lock held. Times are milliseconds of the monotonic clock.
package protocol BudgetObserver: AnyObject, Sendable {
  /// Records what is charged; -1 takes a send back.
  func record(sends: Int, requests: Int, bytes: Int)

  /// Records the number of connections after a change.
  func record(connections: Int)

  /// The number of other connections that count against the limit.
  func connectionsElsewhere(_ now: Int64) -> Int

  /// The buckets are to be refilled for a time, and may be charged before.
  func willRefill(
    _ buckets: inout UserBudget.Buckets, _ milliseconds: Int64, at terms: UserBudget.Terms,
    _ now: Int64)

  /// Returns how long the wait for a bucket really is, with these charges.
  func prolong(_ milliseconds: Int64, for bucket: UserBudget.Bucket, _ now: Int64) -> Int64

  /// Whether there is nothing to charge or to tell, so that the budget need not be kept.
  func isFull(_ now: Int64) -> Bool
}
