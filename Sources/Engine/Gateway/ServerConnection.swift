import Relay
import WebSocket

/// One connection of a loop: a client's, or one of the relay's own, which has no stream.
///
/// An object, so that functions and queues of the loop name the connection itself: its number may
/// belong to another one by then. Confined to its loop's thread.
package final class ServerConnection {
  /// The state of a connection, with the data that only that state needs.
  enum State {
    /// Waits for its first request, and is not authenticated.
    case opening
    /// Waits for another request: an earlier one was answered, and left the connection open.
    case resting
    /// A request was read, and its answer has to be found.
    case exchange(HTTPExchange)
    /// A WebSocket; it has a session.
    case open
    /// A WebSocket that echoes its messages, and has no user.
    case echo
    case bot(BotSession)
    case canary(CanaryRun)
    /// The close frame is sent or queued; the peer's is awaited.
    case closing
    /// The output is complete and the writing side shut. Reads until the peer has closed as well:
    /// closing with unread input would reset the connection and lose the last output.
    case lingering
    /// The end: the connection is removed from the table. A queue may still contain it.
    case gone
  }

  var state: State {
    willSet { assert(mayBecome(newValue), "\(state) cannot become \(newValue)") }
  }
  var webSocket: WebSocket.Connection
  // Small fields are in this order so that no space is left between them: there is one of these for
  // each idle connection.
  var isReadable = false
  /// The peer has stopped sending, so the connection is read until the end of the stream.
  var sawEnd = false
  /// Pings and pongs in the second that began at `controlFramesSince`, in milliseconds modulo 2^32.
  private var controlFrames: UInt16 = 0
  private var controlFramesSince: UInt32 = 0
  fileprivate var slot: Int32 = -1
  var host: HostKey?
  var isPaused = false
  var isAuthenticated = false
  var arrival: Arrival
  var session: SessionID?
  /// Whether it is counted among the unauthenticated connections of its address.
  var isCountedAsUnauthenticated = false
  /// The number of sweeps that found the connection unauthenticated.
  var sweepsWaited: UInt8 = 0
  var wasPinged = false
  /// Input that was read and not processed yet.
  private enum Rest {
    case bytes([UInt8])
    case head(UnfinishedHead)
  }

  private var rest = Rest.bytes([])

  /// Input that was read and not processed yet, because the connection is paused.
  var pending: [UInt8] {
    get { if case .bytes(let bytes) = rest { bytes } else { [] } }
    set { rest = .bytes(newValue) }
  }
  /// The beginning of a request that has arrived; `nil` if there is none.
  var unfinishedHead: UnfinishedHead? {
    get { if case .head(let head) = rest { head } else { nil } }
    set { rest = newValue.map { .head($0) } ?? .bytes([]) }
  }
  /// In milliseconds of the loop's clock.
  var heardAt: Int64 = 0
  private var moment: Int64 = 0
  /// The deadline of the state; 0 = no limit.
  var deadline: Int64 {
    get { recordsWrites ? 0 : moment }
    set { moment = newValue }
  }
  /// When the socket last took bytes, of a connection that `recordsWrites`. It is where the deadline
  /// is otherwise: such a connection has none until it closes.
  var takenAt: Int64 {
    get { moment }
    set { if recordsWrites { moment = newValue } }
  }
  private var recordsWrites: Bool {
    switch state {
    case .open, .echo: isAuthenticated
    case .exchange(let exchange): exchange.recordsWrites
    default: false
    }
  }

  /// The number of its stream, as the world and the shard know the connection; its place in the table.
  var stream: Int { Int(slot) }

  /// The other end of a connection.
  package enum Peer {
    case client
    /// A trusted proxy: its clients are at the other end.
    case proxy
    /// A program that may open the operator's socket.
    case `operator`
  }

  /// What `ConnectionLoop+Arrivals` knows of a connection, in one byte.
  struct Arrival: OptionSet {
    var rawValue: UInt8

    static let isProxy = Self(rawValue: 1)
    static let isOperator = Self(rawValue: 2)
    /// It waits in `ConnectionLoop.arrivals`.
    static let isQueued = Self(rawValue: 4)
    /// It is not read until its address may make another TLS handshake.
    static let isHeld = Self(rawValue: 8)
    /// One of its requests was authenticated.
    static let isEstablished = Self(rawValue: 16)
    /// Its address has paid for its TLS handshake, and gets that back once it is authenticated.
    static let hasPaidForHandshake = Self(rawValue: 32)
    /// As above, for the request that has opened its WebSocket.
    static let hasPaidForRequest = Self(rawValue: 64)
    /// What was last heard of it is a message, or that it connects: not a ping or pong.
    static let hasSentLast = Self(rawValue: 128)

    subscript(flag: Self) -> Bool {
      get { contains(flag) }
      set { if newValue { insert(flag) } else { remove(flag) } }
    }
  }

  /// What is at the other end.
  var peer: Peer {
    if arrival[.isProxy] { return .proxy }
    return arrival[.isOperator] ? .operator : .client
  }

  init(_ state: State, from peer: Peer = .client, limits: WebSocket.Limits) {
    self.state = state
    arrival =
      switch peer {
      case .client: []
      case .proxy: .isProxy
      case .operator: .isOperator
      }
    webSocket = WebSocket.Connection(role: .server, limits: limits)
  }

  /// Whether it is a client's connection, not one of the relay's own.
  var hasStream: Bool {
    switch state {
    case .bot, .canary: false
    default: true
    }
  }
  var awaitsRequest: Bool {
    switch state {
    case .opening, .resting: true
    default: false
    }
  }
  /// Whether messages may be exchanged: no close frame was sent or received.
  var isOpen: Bool {
    switch state {
    case .open, .echo: true
    default: false
    }
  }
  var isClosing: Bool { if case .closing = state { true } else { false } }
  var isLingering: Bool { if case .lingering = state { true } else { false } }
  var isGone: Bool { if case .gone = state { true } else { false } }
  var exchange: HTTPExchange? { if case .exchange(let exchange) = state { exchange } else { nil } }
  var bot: BotSession? { if case .bot(let bot) = state { bot } else { nil } }

  private func mayBecome(_ next: State) -> Bool {
    switch (state, next) {
    case (.gone, _): false
    case (_, .gone), (_, .lingering): session == nil
    case (.opening, .exchange), (.resting, .exchange): true
    case (.exchange, .resting): session == nil
    case (.opening, .open), (.opening, .echo), (.resting, .open), (.resting, .echo),
      (.open, .closing), (.echo, .closing):
      session != nil
    default: false
    }
  }

  /// Counts a ping or a pong; returns `false` beyond the limit. They cost the peer next to nothing,
  /// and the rate limits of the session do not cover them.
  func mayTakeControlFrame(limit: Int, now: Int64) -> Bool {
    let now = UInt32(truncatingIfNeeded: now)
    if now &- controlFramesSince >= 1000 {
      controlFramesSince = now
      controlFrames = 0
    }
    if controlFrames < .max { controlFrames += 1 }
    return !isFlooding(limit: limit)
  }

  /// Whether the connection was closed, or is about to be, for too many pings and pongs.
  /// - Parameter limit: per second; 0 = none. More than 65,534 count as that many.
  func isFlooding(limit: Int) -> Bool {
    limit > 0 && Int(controlFrames) > min(limit, Int(UInt16.max) - 1)
  }

  /// Prolongs what waits by a time in which the loop did not run.
  func prolong(by milliseconds: Int64) {
    heardAt += milliseconds
    if moment > 0 { moment += milliseconds }
  }
}

/// The connections of a loop, by the number of their stream. The number of a removed one is used
/// again.
struct ConnectionTable: ~Copyable {
  private var slots = Slab<ServerConnection?>(vacant: nil)

  var count: Int { slots.count }
  var isEmpty: Bool { slots.isEmpty }
  /// The end of the numbers in use.
  var capacity: Int { slots.capacity }
  var all: [ServerConnection] { slots.slots.compactMap { slots[$0] } }

  /// The connection of that stream; `nil` if there is none.
  subscript(stream: Int) -> ServerConnection? {
    let slot = Slot<ServerConnection?>(stream)
    return slots.contains(slot) ? slots[slot] : nil
  }

  mutating func insert(_ connection: ServerConnection) {
    assert(connection.slot < 0, "a connection is in one table, once")
    connection.slot = slots.insert(connection).place
  }

  mutating func remove(_ connection: ServerConnection) {
    slots.remove(Slot(connection.slot))
    connection.state = .gone
  }

  mutating func shrink() { slots.shrink() }
}
