internal import DequeModule
internal import Mixing
internal import Relay

/// One direction of a connection: the bytes in flight, and those that have arrived and are unread.
struct Pipe {
  /// The end of the stream, from the receiver's view.
  enum End {
    /// The stream ends after everything that was sent.
    case finished
    /// The connection was cut, or the peer's system does not know it.
    case lost
  }

  /// The maximum number of bytes in the buffers of both systems.
  let capacityBytes: Int
  private var onItsWay: Deque<(at: Int64, bytes: [UInt8])> = []
  private var heldBytes = 0
  private var lastArrival: Int64 = 0
  private var toldArrival: Int64?
  private var endHasArrived = false
  private(set) var arrived: [UInt8] = []
  /// The number of arrivals.
  private(set) var arrivals = 0
  private var end: (at: Int64, End)?
  /// Whether sent bytes are lost without the sender's knowledge.
  private var isSevered = false
  /// Whether the sender gets an error.
  private(set) var isBroken = false

  init(capacityBytes: Int) { self.capacityBytes = capacityBytes }

  var space: Int { max(0, capacityBytes - heldBytes) }
  var hasBytesOnTheirWay: Bool { !onItsWay.isEmpty }

  /// - Parameter latest: the latest time at which the last part arrives.
  /// - Returns: the number of accepted bytes.
  mutating func send(
    _ bytes: ArraySlice<UInt8>, now: Int64, maximumDelay: Int64,
    using random: inout SplitMix64
  ) -> Int {
    let taken = bytes.prefix(space)
    heldBytes += taken.count
    if isSevered || end != nil { return taken.count }
    var rest = taken
    while !rest.isEmpty {
      // Mostly in one piece, otherwise cut at a random place.
      let isWhole = Int.random(in: 0..<4, using: &random) > 0
      let count = isWhole ? rest.count : Int.random(in: 1...rest.count, using: &random)
      lastArrival = max(lastArrival, now + Int64.random(in: 0...maximumDelay, using: &random))
      onItsWay.append((lastArrival, Array(rest.prefix(count))))
      rest = rest.dropFirst(count)
    }
    return taken.count
  }

  /// Returns the time of the next arrival; `nil` if there is none, or if it was returned before.
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

  /// Returns the end of the stream, once all arriving bytes were read.
  func ending(now: Int64) -> End? {
    guard let end, end.at <= now, onItsWay.isEmpty, arrived.isEmpty else { return nil }
    return end.1
  }

  /// Returns the end of the stream as known to the receiver's system, even if there are unread
  /// bytes.
  func arrivedEnd(now: Int64) -> End? {
    guard let end, end.at <= now, onItsWay.isEmpty else { return nil }
    return end.1
  }

  /// Ends the stream after the bytes that were sent.
  mutating func finish(now: Int64) {
    guard end == nil, !isSevered else { return }
    lastArrival = max(lastArrival, now)
    end = (lastArrival, .finished)
  }

  /// Cuts the stream: of the bytes in flight only this many arrive.
  /// - Parameter at: when the receiver learns of it; `nil` means never.
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

  /// Discards all bytes in flight, and all unread ones.
  mutating func silence() {
    onItsWay = []
    arrived = []
  }

  var bytesOnTheirWay: Int { onItsWay.reduce(0) { $0 + $1.bytes.count } }

  /// Tells the sender that the receiver is gone.
  mutating func breakOff() { isBroken = true }
}

/// A connection between one client and the relay.
final class Link {
  /// The kind of a client.
  enum Kind {
    case honest
    /// An adversary.
    case hostile
    /// An unauthenticated adversary.
    case anonymous
  }

  let number: Int32
  let user: String
  let kind: Kind
  /// The loop that accepts the connection.
  let loop: Int
  /// The life of the relay's process to which it leads.
  let life: Int
  /// The client's token; `nil` if the relay accepts names without verification.
  let token: SimulatedToken?
  var toRelay: Pipe
  var toClient: Pipe
  /// Since when unread bytes have been there that the relay could have read.
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

  /// The part of a URL's query that authenticates the client.
  var query: String { token.map { "token=\($0.text)" } ?? "user=\(user)" }
}
