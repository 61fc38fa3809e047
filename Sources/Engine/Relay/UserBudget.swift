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
    /// Of input, after decompression; a third bucket.
    public var bytesPerSecond = 262_144
    /// Concurrent connections.
    public var connections = 50
    public init() {}

    /// Whether no limit applies.
    var isUnlimited: Bool {
      sendsPerSecond == 0 && requestsPerSecond == 0 && bytesPerSecond == 0 && connections == 0
    }
  }

  /// The limit that holds a connection back.
  public enum Bucket: Sendable { case sends, requests, bytes }

  /// The kind of a message for charging.
  public enum Charge: Sendable { case send, request }

  /// The reason for which a connection is not read, and the minimum duration.
  struct Delay {
    var bucket: Bucket?
    var milliseconds: Int64
  }

  private struct State {
    var sends: TokenBucket
    var requests: TokenBucket
    var bytes: TokenBucket
    var connections = 0
    /// The last rank that was assigned.
    var lastRank: UInt64 = 0
    /// The ranks of the connections that have input and are not read, ascending; at most as many as
    /// the user has connections.
    var waiting: [UInt64] = []
    /// HTTP has one rank, like a connection that never waits.
    var rankOfHTTP: UInt64 = 0

    mutating func refill(_ now: Int64) {
      sends.refill(now)
      requests.refill(now)
      bytes.refill(now)
    }

    mutating func nextRank() -> UInt64 {
      lastRank += 1
      return lastRank
    }

    /// The empty bucket with the longest wait; `nil` if none is empty.
    var delay: Delay? {
      guard sends.isEmpty || requests.isEmpty || bytes.isEmpty else { return nil }
      var delay = Delay(bucket: .sends, milliseconds: sends.wait)
      if requests.wait > delay.milliseconds {
        delay = Delay(bucket: .requests, milliseconds: requests.wait)
      }
      if bytes.wait > delay.milliseconds { delay = Delay(bucket: .bytes, milliseconds: bytes.wait) }
      return delay
    }

    mutating func charge(_ charge: Charge, bytes count: Int) {
      switch charge {
      case .send: sends.charge(1)
      case .request: requests.charge(1)
      }
      bytes.charge(count)
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

  private let connectionsLimit: Int
  private let state: Mutex<State>

  init(_ limits: Limits, now: Int64) {
    connectionsLimit = limits.connections
    state = Mutex(
      State(
        sends: TokenBucket(perSecond: limits.sendsPerSecond, burst: limits.burst, now: now),
        requests: TokenBucket(
          perSecond: limits.requestsPerSecond, burst: limits.requestsPerSecond, now: now),
        bytes: TokenBucket(
          perSecond: limits.bytesPerSecond, burst: limits.bytesPerSecond, now: now)))
  }

  // MARK: - Connections

  /// Counts a new connection.
  /// - Returns: its rank: of the waiting connections, the one with the lowest rank is served first.
  ///   A new one ranks after the existing ones, so reconnecting gains nothing. `nil` if the user
  ///   has reached the limit of connections.
  func connect() -> UInt64? {
    state.withLock { state in
      if connectionsLimit > 0, state.connections >= connectionsLimit { return nil }
      state.connections += 1
      return state.nextRank()
    }
  }

  /// Counts a connection that has ended.
  /// - Returns: whether it was the last one.
  func disconnect(_ rank: UInt64) -> Bool {
    state.withLock { state in
      state.connections -= 1
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
      if let delay = state.delay {
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
      state.charge(charge, bytes: bytes)
      return state.nextRank()
    }
  }

  /// Charges for a request that costs as much as several.
  func chargeRequests(_ count: Int) {
    state.withLock { $0.requests.charge(count) }
  }

  /// See `Budgets.noteDuplicate`.
  func noteDuplicate() {
    state.withLock { state in
      state.sends.refund()
      state.requests.charge(1)
    }
  }

  // MARK: - HTTP

  /// See `Budgets.take`.
  func take(sends: Int, requests: Int, bytes: Int, now: Int64) -> Int64? {
    state.withLock { state in
      state.refill(now)
      let wait = max(
        sends > 0 ? state.sends.wait : 0, requests > 0 ? state.requests.wait : 0, state.bytes.wait)
      let first = state.waiting.first
      // A script on a WebSocket takes each token as it comes. So if HTTP was served least recently,
      // one request may leave a debt, after which every waiting connection has a turn before the
      // next request.
      let isNext = first.map { state.rankOfHTTP < $0 } ?? false
      if wait > 0, !isNext || wait > Self.debtMilliseconds { return wait }
      // Nor may a script over HTTP take each token before a waiting connection gets it.
      if first != nil, !isNext { return 1 }
      state.sends.charge(sends)
      state.requests.charge(requests)
      state.bytes.charge(bytes)
      state.rankOfHTTP = state.nextRank()
      return nil
    }
  }

  /// Whether the budget has recovered completely, so that it need not be kept.
  func isRested(_ now: Int64) -> Bool {
    state.withLock { state in
      state.refill(now)
      return state.connections == 0 && state.sends.isFull && state.requests.isFull
        && state.bytes.isFull
    }
  }
}
