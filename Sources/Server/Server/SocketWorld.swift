import Accounts
import Directories
import EventLoop
import Gateway
import Logging
import Platform
import Relay
import TLS
import WebSocket

/// The production `LoopWorld`: sockets, with or without TLS; the log, and the mailboxes of the
/// other loops. Confined to its loop's thread.
@safe final class SocketWorld: LoopWorld {
  /// The state that all loops share.
  struct Shared: Sendable {
    var log: any Log
    /// The mailbox of each loop.
    var mailboxes: [Mailbox<LoopMessage>]
    /// The heartbeat of each loop.
    var heartbeats: [Heartbeat]
    /// Copies of what the loops listen on.
    var sockets: ListeningSockets
    /// Receives an element when this loop needs the log no more.
    var finished: WorkQueue<Void>
    var avatars: AvatarCache
    /// `nil` = the relay has no accounts.
    var accounts: AccountKeeper?
    /// `nil` = the relay keeps no files.
    var files: FileKeeper?
    /// `nil` = the relay uses no tokens that others sign.
    var authority: TokenAuthority?
    /// `nil` = without TLS.
    var credentials: TLSCredentials?
    var proxies: TrustedProxies
    var logger: Logger
    /// Reads the metrics, with the counters of the loops.
    var metrics: @Sendable (LoopSnapshot) -> Metrics
    let samples = SampleRing()
  }

  /// One accepted connection.
  struct Stream {
    let socket: BorrowedSocket
    let registration: Registration
    /// Whether further input is discarded.
    var isFinished = false
    /// `nil` = without TLS.
    let tls: TLSChannel?
  }

  let index: Int
  let shared: Shared
  let loop: EventLoop
  var acceptor: Acceptor?
  /// The acceptor of the operator's socket, on the first loop.
  var operatorAcceptor: Acceptor?
  /// Indexed by the connection's slot; `nil` if the slot is free.
  var streams: [Stream?] = []
  /// What has arrived of headers of the PROXY protocol, by stream, until they are whole.
  var headers: [Int: [UInt8]] = [:]
  private var now = Moment(monotonic: 0, wall: 0)
  /// The turn of the loop in which `now` was read.
  private var turnOfNow = UInt64.max

  init(index: Int, shared: Shared, loop: EventLoop) {
    self.index = index
    self.shared = shared
    self.loop = loop
  }

  // MARK: - Time

  func moment() -> Moment {
    if turnOfNow != loop.turns {
      turnOfNow = loop.turns
      let microseconds = Int64(loop.now.nanoseconds / 1000)
      now = Moment(
        monotonic: microseconds / 1000, fractionMicroseconds: microseconds % 1000,
        wall: WallClock.milliseconds)
    }
    return now
  }

  var microseconds: Int64 { Int64(Instant.now().nanoseconds / 1000) }

  // MARK: - Streams

  /// Starts to serve a connection's socket.
  /// - Parameter awaitsHeader: whether a header of the PROXY protocol comes first.
  func open(
    _ stream: Int, _ socket: consuming Socket, _ tls: TLSChannel?, awaitsHeader: Bool
  ) throws(SystemError) {
    let registration = try loop.register(
      socket.descriptor, for: [.readable, .writable, .edgeTriggered], token: UInt64(stream))
    while streams.count <= stream { streams.append(nil) }
    streams[stream] = Stream(
      socket: BorrowedSocket(descriptor: socket.release()), registration: registration, tls: tls)
    if awaitsHeader { headers[stream] = [] }
  }

  func read(_ stream: Int, into buffer: inout MutableSpan<UInt8>) -> StreamRead {
    guard let open = streams[stream] else { return .reset }
    if !headers.isEmpty, let header = headers[stream], !open.isFinished {
      return readHeader(of: stream, after: header, open.socket, into: &buffer)
    }
    if let tls = open.tls, !open.isFinished {
      return read(open.socket, through: tls, into: &buffer)
    }
    switch open.socket.read(into: &buffer) {
    case .bytes(let count):
      return .bytes(
        open.isFinished ? 0 : count, received: count, mayHaveMore: count == buffer.count)
    case .wouldBlock: return .wouldBlock
    case .end: return .end
    case .failed: return .reset
    }
  }

  func write(_ stream: Int, _ bytes: Span<UInt8>) -> StreamWrite {
    guard let open = streams[stream] else { return .gone }
    if let tls = open.tls {
      return tls.write(bytes, to: open.socket).map { .taken($0.taken, sent: $0.sent) } ?? .gone
    }
    switch open.socket.send(bytes) {
    case .sent(let count): return .taken(count, sent: count)
    case .wouldBlock: return .taken(0, sent: 0)
    case .failed: return .gone
    }
  }

  func millisecondsSinceAcknowledgement(_ stream: Int) -> Int64 {
    streams[stream]?.socket.millisecondsSinceAck ?? 0
  }

  func finish(_ stream: Int) {
    guard let open = streams[stream] else { return }
    open.tls?.close(to: open.socket)
    open.socket.shutdownWrite()
    streams[stream]?.isFinished = true
  }

  func close(_ stream: Int) {
    guard stream < streams.count, let open = streams[stream] else { return }
    streams[stream] = nil
    headers[stream] = nil
    if !open.isFinished { open.tls?.close(to: open.socket) }
    loop.deregister(open.registration)
    _ = Socket(owning: open.socket.descriptor)
  }

  // MARK: - The log and the other loops

  func submit(_ requests: [LogRequest]) { shared.log.submit(requests, from: index) }

  func read(_ request: ReadRequest) { shared.log.read(request, from: index) }

  func post(_ message: LoopMessage, to loop: Int) { shared.mailboxes[loop].post(message) }

  // MARK: - The process

  var diagnosticsLevel: Diagnostics.Level {
    switch shared.logger.logLevel {
    case .trace: .trace
    case .debug: .debug
    case .info: .info
    case .notice: .notice
    case .warning: .warning
    case .error, .critical: .off
    }
  }

  func report(_ level: Diagnostics.Level, _ message: String, _ fields: [LogField]) {
    let level: Logger.Level =
      switch level {
      case .trace: .trace
      case .debug: .debug
      case .info: .info
      case .notice: .notice
      case .warning, .off: .warning
      }
    shared.logger.log(level: level, "\(message)", metadata: Logger.Metadata(fields))
  }

  func stopAccepting() {
    acceptor?.close()
    acceptor = nil
    if shared.sockets.areHandedOver { operatorAcceptor?.leavePath() }
    operatorAcceptor?.close()
    operatorAcceptor = nil
  }

  func logIsFinished() { shared.finished.append(()) }

  func fetchAvatar(of user: String, from url: String, for exchange: ExchangeID) {
    let mailbox = shared.mailboxes[index]
    shared.avatars.avatar(for: user, url: url) { avatar in
      mailbox.post(.avatar(avatar, exchange))
    }
  }

  func verify(_ token: String, from host: HostKey?, for asker: VerificationAsker) {
    if let accounts = shared.accounts {
      accounts.verify(token, from: host, for: asker, loop: index)
    } else {
      shared.authority?.verify(token, for: asker, answering: shared.mailboxes[index])
    }
  }

  func use(_ devices: [String]) { shared.accounts?.use(devices) }

  func ask(_ call: AccountCall, for exchange: ExchangeID) {
    shared.accounts?.ask(call, for: exchange, loop: index)
  }

  func keep(_ work: FileWork, for worker: FileWorker) {
    shared.files?.keep(work, for: worker, loop: index)
  }

  func metrics(of loops: LoopSnapshot, openMetrics: Bool) -> HTTPResponse {
    shared.metrics(loops).response(openMetrics: openMetrics)
  }

  func keepSample(of loops: LoopSnapshot) { shared.samples.append(shared.metrics(loops)) }

  func samples(after time: Int64) -> HTTPResponse {
    HTTPResponse(
      status: 200, contentType: "application/json", body: shared.samples.json(after: time))
  }

  func releaseMemory(keepingPlaces places: Int) {
    if streams.count > places {
      streams.removeLast(streams.count - places)
      streams = Array(streams)
    }
    FreeMemory.giveBack()
  }
}
