internal import Gateway
internal import Hostile
internal import Relay
internal import WebSocket

/// One loop's world in the simulation: links instead of sockets, the simulation's clock, and a log that
/// takes what is submitted when the seed says so.
///
/// As with epoll and its edges (epoll(7), `EPOLLET`), what has happened to a stream is told once.
final class SimulatedStreams: LoopWorld {
  /// One accepted connection.
  private final class Stream {
    let link: Link
    var session: SessionID?
    /// How much had arrived, and whether the end had, when that was last told.
    var arrivalsTold = 0
    var endWasTold = false
    /// It took less than all of what was written.
    var isBlocked = false
    /// The relay has said all; what comes is thrown away.
    var isFinished = false
    /// The relay does not read it just now.
    var isPaused = false

    init(_ link: Link) { self.link = link }
  }

  let loop: Int
  var now: Moment
  private var streams: [Int: Stream] = [:]
  /// What this loop has been told and not yet taken.
  private(set) var mail: [LoopMessage] = []
  /// What the loop has done in its last turn.
  var work = Work()
  /// Chooses how much of what has arrived is read at a time.
  var readLimit: () -> Int = { ConnectionLoop.readBytes }
  /// Puts bytes on a link's way; says how many it took.
  var send: (Link, Span<UInt8>) -> Int = { _, bytes in bytes.count }
  /// Takes what the loop hands over to the log.
  var onSubmit: ([LogRequest]) -> Void = { _ in }
  var onRead: (ReadRequest) -> Void = { _ in }
  var onPost: (LoopMessage, _ loop: Int) -> Void = { _, _ in }
  /// Something was said at a link's other end.
  var onEnd: (Link) -> Void = { _ in }
  /// Told when an honest client's bytes were read that have waited since then.
  var onWait: (_ since: Int64) -> Void = { _ in }
  /// Told when a connection is not read any more, and when it is again.
  var onPause: (Link, _ isPaused: Bool) -> Void = { _, _ in }
  /// Told of every message when it is taken.
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

  /// What has happened to streams since it was last told.
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

  /// The sessions of connections, where they have one.
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

  /// The simulated systems do not tell.
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

  func stopAccepting() {}

  func fetchAvatar(of user: String, from url: String, connection: Int, exchange: UInt64) {
    onPost(.picture(nil, connection: connection, exchange: exchange), loop)
  }

  func metrics(of loops: LoopSnapshot) -> HTTPResponse {
    HTTPResponse(status: 200, text: "connections \(loops.connections.values.reduce(0, +))\n")
  }

  func giveBackMemory(keepingPlaces places: Int) {}
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
