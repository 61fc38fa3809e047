internal import EventLoop
internal import Glibc
internal import Platform
internal import TLS
internal import WebSocket
public import Wire

/// A connection to a relay that reconnects by itself.
///
/// Confined to its loop's thread, as everything of the loop is. It has no thread and no buffer of
/// its own, so that one loop can serve thousands of clients. It cannot be used after `ended`.
public final class Client {
  /// The relay and the credentials; changes apply from the next connection on.
  public var configuration: Configuration
  /// The receiver of events.
  public weak var handler: (any ClientHandler)?

  let shared: ClientLoop
  package let connection: LinkState
  package let execution: SessionExecution
  /// The relay and the trust of the last TLS session.
  var secured: (RelayURL, TLSTrust)?
  /// The number of requests with a `ref`.
  var requestCount = 0

  /// Creates a client that does nothing before `start`.
  public init(_ configuration: Configuration, on shared: ClientLoop) {
    self.configuration = configuration
    self.shared = shared
    connection = LinkState(shared.loop, shared.links)
    execution = SessionExecution(
      ClientSession(
        idPrefix: ClientSession.idPrefix(using: &shared.links.random),
        seed: shared.links.random.next(), settings: configuration.settings))
  }

  /// Whether the relay has sent `welcome` and the connection is believed to be alive.
  public var isLive: Bool { execution.session.isLive }

  /// The number of lines that the relay has not acknowledged.
  public var unacknowledged: Int { execution.session.unacknowledged }

  /// Connects, and stays connected until `close()`.
  public func start() { startSession() }

  /// Closes the connection; `ended` follows. Unacknowledged lines are abandoned.
  public func close() {
    perform { $0.close(at: $1, &$2) }
  }

  /// See `ClientSession.reconnect`.
  public func reconnect() {
    perform { $0.reconnect(at: $1, &$2) }
  }

  /// See `ClientSession.join`.
  public func join(
    _ room: String, from start: JoinStart = .head, countingSubscribers: Bool = false
  ) {
    perform { session, _, actions in
      session.join(room, from: start, countingSubscribers: countingSubscribers, &actions)
    }
  }

  /// See `ClientSession.leave`.
  public func leave(_ room: String, forgetting: Bool = false) {
    perform { session, _, actions in
      session.leave(room, forgetting: forgetting, &actions)
    }
  }

  /// Sends a line of text, again if necessary, until it is answered.
  ///
  /// - Returns: The id that `acknowledged` or `refused` will carry.
  @discardableResult
  public func send(_ text: String, to room: String) -> String { sendText(text, to: room) }

  /// Sends an entry of any kind; `body` as in `Entry.body`.
  @discardableResult
  public func send(_ kind: EntryKind, _ body: [UInt8], to room: String) -> String {
    var id = ""
    perform { id = $0.send(kind, body, to: room, at: $1, &$2) }
    return id
  }

  /// Sends an entry whose id was chosen before; see `ClientSession.send`.
  public func send(_ send: ClientMessage.Send) {
    perform { $0.send(send, at: $1, &$2) }
  }

  /// See `ClientSession.withdraw`.
  public func withdraw(room: String, id: String) -> Bool {
    var isWithdrawn = false
    perform { session, _, _ in isWithdrawn = session.withdraw(room: room, id: id) }
    return isWithdrawn
  }

  /// See `ClientSession.mark`.
  public func mark(_ room: String, received: Int64 = 0, read: Int64 = 0) {
    perform { $0.mark(room, received: received, read: read, at: $1, &$2) }
  }

  /// See `ClientSession.request`.
  @discardableResult
  public func request(_ message: ClientMessage) -> Bool {
    var isSent = false
    perform { session, _, actions in isSent = session.request(message, &actions) }
    return isSent
  }

  /// Sends a request, as ``request(_:)``, whose answer names it: ``ClientEvent/answered(ref:)``, or an
  /// `error` with this `ref`. If the connection is lost before, neither comes.
  /// - Parameter ref: 1 to 64 printable ASCII characters.
  public func request(_ message: ClientMessage, ref: String) -> Bool {
    guard isLive, connection.link.isOpen else { return false }
    connection.link.append(.text, message.json(ref: ref).span, with: connection.resources)
    outputWaits()
    return true
  }

  /// See `ClientSession.forgetUser`.
  public func forgetUser() { perform { session, _, _ in session.forgetUser() } }

  /// Uses another token, on the current connection and from then on. See `ClientEvent.tokenWanted`.
  public func renew(token: String) {
    configuration.token = token
    perform { $0.renew(token, at: $1, &$2) }
  }
}

extension Client: LinkExecutor {
  package var executors: LinkLoop<Client> { shared.executors }

  package func report(_ event: ClientEvent) { handler?.client(self, event) }

  package func didReceive(_ message: ServerMessage?, _ json: Span<UInt8>, isNews: Bool) {
    if isNews { handler?.client(self, received: json) }
    if case .ok? = message, let ref = ServerMessage.ref(in: json) { report(.answered(ref: ref)) }
  }
}
