import Relay
import WebSocket

/// One accepted connection, or a bot's, in its loop's table.
struct ServerConnection {
  enum Phase {
    case free
    /// Waits for the whole request.
    case handshake
    /// A request was read whose answer has to be found.
    case exchange
    /// A WebSocket, or a bot.
    case open
    /// The relay's own, without a socket.
    case canary
    /// The close frame is sent or queued; the peer's is awaited.
    case closing
    /// All is said and the writing side shut: reads until the peer has closed as well, since
    /// closing with unread input would reset the connection and eat what was said last.
    case lingering
  }

  var phase = Phase.free
  /// It is a client's, and not of the relay's own.
  var hasStream = false
  var webSocket: WebSocket.Connection
  var session: SessionID?
  /// Input that was read and not yet taken: the begin of a request, or what a pause left over.
  var pending: [UInt8] = []
  var isReadable = false
  /// The peer has stopped sending, so that reading goes on until the end is read.
  var sawEnd = false
  var isPaused = false
  var isIdentified = false
  /// Gives back what it is sent, and is nobody to the relay.
  var isEcho = false
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
  /// The inbox of a bot waits for the budget of the bot's user.
  var isInboxSlowed = false
  /// The bot is told nothing until its inbox is shorter.
  var isHeld = false
  /// Pings and pongs of the second that began at `controlFramesSince`.
  var controlFrames = 0
  var controlFramesSince: Int64 = 0
  /// The phase ends by then; 0 = no limit.
  var deadline: Int64 = 0
  var bot: (any BotEnd)?
  var exchange: HTTPExchange?
  var canary: CanaryRun?
  /// Messages of a bot that the session may not yet receive.
  var inbox: [[UInt8]] = []

  init(limits: WebSocket.Limits) {
    webSocket = WebSocket.Connection(role: .server, limits: limits)
  }
}
