import Relay
import WebSocket

/// One connection in its loop's table: a client's, or one of the relay's own, which has no stream.
struct ServerConnection {
  /// The state of a connection, with the data that only that state needs.
  enum Phase {
    /// Waits for a complete request.
    case handshake
    /// A request was read, and its answer has to be found.
    case exchange(HTTPExchange)
    /// A WebSocket.
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
  }

  var phase: Phase
  var webSocket: WebSocket.Connection
  // Small fields are in this order so that no space is left between them: there is one of these for
  // each idle connection.
  var isReadable = false
  /// The peer has stopped sending, so the connection is read until the end of the stream.
  var sawEnd = false
  /// Pings and pongs in the second that began at `controlFramesSince`.
  var controlFrames: Int32 = 0
  var host: HostKey?
  var isPaused = false
  var isAuthenticated = false
  /// Whether the client is on this machine.
  var isLocal = false
  var session: SessionID?
  /// Whether it is counted among the unauthenticated connections of its address.
  var isCountedAsUnauthenticated = false
  /// The number of sweeps that found the connection unauthenticated.
  var sweepsWaited: UInt8 = 0
  var wasPinged = false
  /// Input that was read and not processed yet: the beginning of a request, or the rest after a
  /// pause.
  var pending: [UInt8] = []
  /// In milliseconds of the loop's clock.
  var heardAt: Int64 = 0
  var takenAt: Int64 = 0
  var controlFramesSince: Int64 = 0
  /// The deadline of the phase; 0 = no limit.
  var deadline: Int64 = 0

  init(_ phase: Phase, limits: WebSocket.Limits) {
    self.phase = phase
    webSocket = WebSocket.Connection(role: .server, limits: limits)
  }

  /// Whether it is a client's connection, not one of the relay's own.
  var hasStream: Bool {
    switch phase {
    case .bot, .canary: false
    default: true
    }
  }
  var awaitsRequest: Bool { if case .handshake = phase { true } else { false } }
  /// Whether messages may be exchanged: no close frame was sent or received.
  var isOpen: Bool {
    switch phase {
    case .open, .echo: true
    default: false
    }
  }
  var isClosing: Bool { if case .closing = phase { true } else { false } }
  var isLingering: Bool { if case .lingering = phase { true } else { false } }
  var exchange: HTTPExchange? { if case .exchange(let exchange) = phase { exchange } else { nil } }
  var bot: BotSession? { if case .bot(let bot) = phase { bot } else { nil } }
}

typealias ConnectionSlot = Slot<ServerConnection>

extension ConnectionSlot {
  /// The index of the connection's stream.
  var stream: Int { Int(place) }
}
