import Relay
import WebSocket

/// One connection in its loop's table: a client's, or one of the relay's own, which has no stream.
struct ServerConnection {
  /// What it is at, with what only that needs.
  enum Phase {
    case free
    /// Waits for the whole request.
    case handshake
    /// A request was read whose answer has to be found.
    case exchange(HTTPExchange)
    /// A WebSocket.
    case open
    /// A WebSocket that gives back what it is sent, and is nobody to the relay.
    case echo
    case bot(BotSession)
    case canary(CanaryRun)
    /// The close frame is sent or queued; the peer's is awaited.
    case closing
    /// All is said and the writing side shut: reads until the peer has closed as well, since
    /// closing with unread input would reset the connection and eat what was said last.
    case lingering
  }

  var phase = Phase.free
  var webSocket: WebSocket.Connection
  var session: SessionID?
  /// Input that was read and not yet taken: the begin of a request, or what a pause left over.
  var pending: [UInt8] = []
  var isReadable = false
  /// The peer has stopped sending, so that reading goes on until the end is read.
  var sawEnd = false
  var isPaused = false
  var isIdentified = false
  var host: HostKey?
  /// From this machine.
  var isLocal = false
  /// Counted among those of its address that have not said who they are.
  var isCountedAsUnidentified = false
  /// How often a sweep found that it had not said who it is.
  var sweepsWaited: UInt8 = 0
  /// Milliseconds of the loop's clock.
  var heardAt: Int64 = 0
  var takenAt: Int64 = 0
  var wasPinged = false
  /// Pings and pongs of the second that began at `controlFramesSince`.
  var controlFrames = 0
  var controlFramesSince: Int64 = 0
  /// The phase ends by then; 0 = no limit.
  var deadline: Int64 = 0

  init(limits: WebSocket.Limits) {
    webSocket = WebSocket.Connection(role: .server, limits: limits)
  }

  /// It is a client's, and not of the relay's own.
  var hasStream: Bool {
    switch phase {
    case .free, .bot, .canary: false
    default: true
    }
  }
  var isFree: Bool { if case .free = phase { true } else { false } }
  var awaitsRequest: Bool { if case .handshake = phase { true } else { false } }
  /// Messages come and go, and no close has.
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
