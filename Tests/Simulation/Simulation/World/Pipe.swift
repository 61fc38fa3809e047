internal import DequeModule
internal import Mixing
internal import Relay

/// One direction of a connection: what is on its way, and what has arrived and was not read.
struct Pipe {
  /// How the receiver sees it end.
  enum End {
    /// Behind everything that was sent.
    case finished
    /// The connection was cut, or the peer's system knows nothing of it.
    case lost
  }

  /// What the systems of both ends hold at most.
  let capacityBytes: Int
  private var onItsWay: Deque<(at: Int64, bytes: [UInt8])> = []
  private var heldBytes = 0
  private var lastArrival: Int64 = 0
  private var toldArrival: Int64?
  private var endHasArrived = false
  private(set) var arrived: [UInt8] = []
  /// How often something has arrived.
  private(set) var arrivals = 0
  private var end: (at: Int64, End)?
  /// What is sent from now on is lost, and the sender does not know.
  private var isSevered = false
  /// The sender gets an error from now on.
  private(set) var isBroken = false

  init(capacityBytes: Int) { self.capacityBytes = capacityBytes }

  var space: Int { max(0, capacityBytes - heldBytes) }
  var hasBytesOnTheirWay: Bool { !onItsWay.isEmpty }

  /// - Parameter latest: when the last part arrives at the latest.
  /// - Returns: how many bytes were taken.
  mutating func send(
    _ bytes: ArraySlice<UInt8>, now: Int64, maximumDelay: Int64,
    using random: inout SplitMix64
  ) -> Int {
    let taken = bytes.prefix(space)
    heldBytes += taken.count
    if isSevered || end != nil { return taken.count }
    var rest = taken
    while !rest.isEmpty {
      // Mostly in one piece; else cut anywhere.
      let isWhole = Int.random(in: 0..<4, using: &random) > 0
      let count = isWhole ? rest.count : Int.random(in: 1...rest.count, using: &random)
      lastArrival = max(lastArrival, now + Int64.random(in: 0...maximumDelay, using: &random))
      onItsWay.append((lastArrival, Array(rest.prefix(count))))
      rest = rest.dropFirst(count)
    }
    return taken.count
  }

  /// When something will arrive next that has not; `nil` also where that was told before.
  mutating func takeNextArrival() -> Int64? {
    let next = onItsWay.first?.at ?? (endHasArrived ? nil : end?.at)
    guard let next, next != toldArrival else { return nil }
    toldArrival = next
    return next
  }

  mutating func arrive(now: Int64) {
    if let told = toldArrival, told <= now { toldArrival = nil }
    if let end, end.at <= now { endHasArrived = true }
    while let first = onItsWay.first, first.at <= now {
      arrived.append(contentsOf: first.bytes)
      arrivals += 1
      onItsWay.removeFirst()
    }
  }

  mutating func read(_ limit: Int) -> [UInt8] {
    let bytes = Array(arrived.prefix(limit))
    arrived.removeFirst(bytes.count)
    heldBytes -= bytes.count
    return bytes
  }

  /// How it ended, once all that will arrive was read.
  func ending(now: Int64) -> End? {
    guard let end, end.at <= now, onItsWay.isEmpty, arrived.isEmpty else { return nil }
    return end.1
  }

  /// How it ended, as far as the receiver's system knows, though not all may have been read.
  func arrivedEnd(now: Int64) -> End? {
    guard let end, end.at <= now, onItsWay.isEmpty else { return nil }
    return end.1
  }

  /// The sender has said all.
  mutating func finish(now: Int64) {
    guard end == nil, !isSevered else { return }
    lastArrival = max(lastArrival, now)
    end = (lastArrival, .finished)
  }

  /// Nothing of what is on its way arrives beyond so many bytes.
  /// - Parameter at: when the receiver learns of it; `nil` is never.
  mutating func cut(keepingBytes: Int, at: Int64?) {
    var left = keepingBytes
    var kept: Deque<(at: Int64, bytes: [UInt8])> = []
    for part in onItsWay where left > 0 {
      let bytes = Array(part.bytes.prefix(left))
      left -= bytes.count
      kept.append((part.at, bytes))
    }
    onItsWay = kept
    isSevered = true
    end = at.map { (max($0, kept.last?.at ?? 0), .lost) }
  }

  /// Nothing of what is on its way, or has arrived, is ever read.
  mutating func silence() {
    onItsWay = []
    arrived = []
  }

  var bytesOnTheirWay: Int { onItsWay.reduce(0) { $0 + $1.bytes.count } }

  /// The sender has learned that nothing arrives any more.
  mutating func breakOff() { isBroken = true }
}

/// A connection between one client and the relay.
final class Link {
  /// How a client is connected.
  enum Kind {
    case honest
    /// An adversary's.
    case hostile
    /// An adversary's that has not said who it is.
    case anonymous
  }

  let number: Int32
  let user: String
  let kind: Kind
  /// Which loop accepts it.
  let loop: Int
  /// Which process of the relay it leads to.
  let life: Int
  /// What says who it is; `nil` where the user's word is taken.
  let token: SimulatedToken?
  var toRelay: Pipe
  var toClient: Pipe
  /// Since when bytes have been there that the relay has not read, though it might have.
  var waitsSince: Int64?

  init(
    number: Int32, user: String, kind: Kind, loop: Int, life: Int, token: SimulatedToken?,
    capacityBytes: Int
  ) {
    self.token = token
    self.number = number
    self.user = user
    self.kind = kind
    self.loop = loop
    self.life = life
    toRelay = Pipe(capacityBytes: 65_536)
    toClient = Pipe(capacityBytes: capacityBytes)
  }

  /// Says in a URL who the client is.
  var query: String { token.map { "token=\($0.text)" } ?? "user=\(user)" }
}
