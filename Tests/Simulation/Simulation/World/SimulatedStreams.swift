internal import Gateway
internal import Relay
internal import ShardWorld
internal import WebSocket

/// One loop's world in the simulation: links instead of sockets, the simulation's clock, and a log
/// that processes submitted requests when the seed decides.
///
/// Like edge-triggered epoll (epoll(7), `EPOLLET`), it reports each event of a stream once.
final class SimulatedStreams: LoopWorld {
  /// One accepted connection.
  private final class Stream {
    let link: Link
    var session: SessionID?
    /// The number of arrivals, and whether the end had arrived, at the last report.
    var arrivalsTold = 0
    var endWasTold = false
    /// Whether it accepted only a part of the last write.
    var isBlocked = false
    /// Whether the relay has ended its output; input is then discarded.
    var isFinished = false
    /// Whether the relay does not read it at present.
    var isPaused = false

    init(_ link: Link) { self.link = link }
  }

  let loop: Int
  var now: Moment
  private var streams: [Int: Stream] = [:]
  /// Messages to this loop that it has not taken yet.
  private(set) var mail: [LoopMessage] = []
  /// The number of bytes that were read so far, before the first message of a connection.
  private(set) var bytesRead = 0
  /// The work of the loop in its last turn.
  var work = Work()
  /// Chooses how many of the arrived bytes are read at a time.
  var readLimit: () -> Int = { ConnectionLoop.readBytes }
  /// Sends bytes over a link, and returns how many it accepted.
  var send: (Link, Span<UInt8>) -> Int = { _, bytes in bytes.count }
  /// Called with the requests that the loop submits to the log.
  var onSubmit: ([LogRequest]) -> Void = { _ in }
  var onRead: (ReadRequest) -> Void = { _ in }
  /// Called with a token that is verified later.
  var onVerify: (String, VerificationAsker) -> Void = { _, _ in }
  /// Called with what the loop asks of what keeps the bytes of files.
  var onKeep: (FileWork, FileWorker) -> Void = { _, _ in }
  var onPost: (LoopMessage, _ loop: Int) -> Void = { _, _ in }
  /// Called when the relay ends its direction of a link, or closes the link.
  var onEnd: (Link) -> Void = { _ in }
  /// Called when an honest client's bytes were read, with the time since which they had waited.
  var onWait: (_ since: Int64) -> Void = { _ in }
  /// Called when the relay stops reading a connection, and when it resumes.
  var onPause: (Link, _ isPaused: Bool) -> Void = { _, _ in }
  /// Called for every message when it is taken.
  var onMessage: (Link, Span<UInt8>, SessionID) -> Void = { _, _, _ in }

  init(loop: Int, now: Moment) {
    self.loop = loop
    self.now = now
  }

  // MARK: - For the process

  func open(_ place: Int, _ link: Link) { streams[place] = Stream(link) }

  func put(_ message: LoopMessage) { mail.append(message) }

  func takeMail() -> [LoopMessage] {
    defer { mail = [] }
    return mail
  }

  /// Returns the events of streams since the last call.
  func takeReadiness() -> [(place: Int, readiness: StreamReadiness)] {
    var all: [(place: Int, readiness: StreamReadiness)] = []
    for (place, stream) in streams.sorted(by: { $0.key < $1.key }) {
      let readiness = readiness(of: stream)
      guard !readiness.isEmpty else { continue }
      stream.arrivalsTold = stream.link.toRelay.arrivals
      stream.endWasTold = readiness.contains(.closed) || stream.endWasTold
      if readiness.contains(.writable) { stream.isBlocked = false }
      all.append((place, readiness))
    }
    return all
  }

  var hasReadiness: Bool { streams.values.contains { !readiness(of: $0).isEmpty } }

  private func readiness(of stream: Stream) -> StreamReadiness {
    var readiness: StreamReadiness = []
    if stream.link.toRelay.arrivals != stream.arrivalsTold { readiness.insert(.readable) }
    if stream.isBlocked, stream.link.toClient.space > 0 { readiness.insert(.writable) }
    if !stream.endWasTold {
      switch stream.link.toRelay.arrivedEnd(now: now.monotonic) {
      case .finished: readiness.insert([.readable, .closed])
      case .lost: readiness.insert([.readable, .closed, .failed])
      case nil where stream.link.toClient.isBroken:
        readiness.insert([.readable, .closed, .failed])
      case nil: break
      }
    }
    return readiness
  }

  /// The sessions of all connections that have one.
  var sessions: [SessionID] { streams.values.compactMap(\.session) }

  func isHonest(_ session: SessionID) -> Bool {
    streams.values.contains { $0.session == session && $0.link.kind == .honest }
  }

  // MARK: - LoopWorld

  func moment() -> Moment { now }

  var microseconds: Int64 { now.monotonic * 1000 }

  func read(_ place: Int, into buffer: inout MutableSpan<UInt8>) -> StreamRead {
    guard let stream = streams[place] else { return .reset }
    let link = stream.link
    let bytes = link.toRelay.read(min(readLimit(), buffer.count))
    guard !bytes.isEmpty else {
      switch link.toRelay.ending(now: now.monotonic) {
      case .finished: return .end
      case .lost: return .reset
      case nil: return link.toClient.isBroken ? .reset : .wouldBlock
      }
    }
    if let since = link.waitsSince, link.kind == .honest, !stream.isPaused, !stream.isFinished {
      onWait(since)
    }
    link.waitsSince = link.toRelay.arrived.isEmpty ? nil : now.monotonic
    if stream.session == nil { bytesRead += bytes.count }
    for (index, byte) in bytes.enumerated() { buffer[index] = byte }
    return .bytes(
      stream.isFinished ? 0 : bytes.count, received: bytes.count,
      mayHaveMore: !link.toRelay.arrived.isEmpty)
  }

  func write(_ place: Int, _ bytes: Span<UInt8>) -> StreamWrite {
    guard let stream = streams[place], !stream.link.toClient.isBroken else { return .gone }
    let taken = send(stream.link, bytes)
    work.bytes += taken
    if taken < bytes.count { stream.isBlocked = true }
    return .taken(taken, sent: taken)
  }

  func drain(_ place: Int) -> StreamWrite { .taken(0, sent: 0) }

  func hasBacklog(_ place: Int) -> Bool { false }

  func isShakingHands(_ place: Int) -> Bool { false }

  /// The simulated systems do not provide this time.
  func millisecondsSinceAcknowledgement(_ place: Int) -> Int64 { 0 }

  func finish(_ place: Int) {
    guard let stream = streams[place] else { return }
    stream.isFinished = true
    stream.link.toClient.finish(now: now.monotonic)
    onEnd(stream.link)
  }

  func close(_ place: Int) {
    guard let stream = streams.removeValue(forKey: place) else { return }
    let link = stream.link
    if !stream.isFinished {
      // A system whose process closes with input unread sends a reset.
      if link.toRelay.arrived.isEmpty {
        link.toClient.finish(now: now.monotonic)
      } else {
        link.toClient.cut(keepingBytes: .max, at: now.monotonic)
      }
    }
    link.toRelay.breakOff()
    onEnd(link)
  }

  func submit(_ requests: [LogRequest]) { onSubmit(requests) }

  func read(_ request: ReadRequest) { onRead(request) }

  func post(_ message: LoopMessage, to loop: Int) { onPost(message, loop) }

  func verify(_ token: String, from host: HostKey?, for asker: VerificationAsker) {
    onVerify(token, asker)
  }

  func keep(_ work: FileWork, for worker: FileWorker) { onKeep(work, worker) }

  func stopAccepting() {}

  func fetchAvatar(of user: String, from url: String, for exchange: ExchangeID) {
    onPost(.avatar(nil, exchange), loop)
  }

  func metrics(of loops: LoopSnapshot, openMetrics: Bool) -> HTTPResponse {
    HTTPResponse(status: 200, text: "connections \(loops.connections.values.reduce(0, +))\n")
  }

  func releaseMemory(keepingPlaces places: Int) {}
}

extension SimulatedStreams: LoopObserver {
  func loopTakes(_ json: Span<UInt8>, from place: Int, _ session: SessionID) {
    guard let stream = streams[place] else { return }
    work.bytes += json.count
    stream.session = session
    onMessage(stream.link, json, session)
  }

  func loopPaused(_ place: Int, _ isPaused: Bool) {
    guard let stream = streams[place] else { return }
    stream.isPaused = isPaused
    let hasInput = !isPaused && !stream.link.toRelay.arrived.isEmpty
    stream.link.waitsSince = hasInput ? now.monotonic : nil
    onPause(stream.link, isPaused)
  }
}
