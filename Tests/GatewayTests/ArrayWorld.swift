import Relay
import WebSocket

@testable import Gateway

/// A world of arrays: a test adds the clients' input, takes their output, and sets the time. The
/// log accepts what it is given, and publishes nothing.
final class ArrayWorld: LoopWorld {
  struct Stream {
    var input: [UInt8] = []
    /// The client that a proxy names before the input.
    var client: ProxyChain.Hop?
    var output: [UInt8] = []
    /// The next input completes a TLS handshake.
    var isShakingHands = false
    var isFinished = false
    var isClosed = false
  }

  var now = Moment(monotonic: 1000, wall: 1_763_650_000_000)
  var streams: [Int: Stream] = [:]
  var submitted: [LogRequest] = []
  var mail: [LoopMessage] = []
  /// Whether `LoopWorld.logIsFinished` was called.
  var hasFinishedWithLog = false
  /// The tokens that `LoopWorld.verify` was given.
  var unverified: [(token: String, asker: VerificationAsker)] = []
  /// The devices that `LoopWorld.use` was given.
  var used: [[String]] = []
  /// What the operator's log takes.
  var diagnosticsLevel = Diagnostics.Level.off
  /// What `LoopWorld.report` was given.
  var reports: [(level: Diagnostics.Level, message: String, fields: [LogField])] = []
  /// Passes the requests to the log.
  var onSubmit: (([LogRequest]) -> Void)?
  /// Answers what `LoopWorld.keep` is given.
  var onKeep: ((FileWork) -> FileWorkResult?)?

  func moment() -> Moment { now }
  var microseconds: Int64 { now.monotonic * 1000 }

  func read(_ stream: Int, into buffer: inout MutableSpan<UInt8>) -> StreamRead {
    guard let input = streams[stream]?.input, !input.isEmpty else { return .wouldBlock }
    if let client = streams[stream]?.client {
      streams[stream]?.client = nil
      return .client(client, received: 28)
    }
    for (index, byte) in input.enumerated() { buffer[index] = byte }
    streams[stream]?.input = []
    if isShakingHands(stream) {
      return .bytes(0, received: input.count, mayHaveMore: false)
    }
    return .bytes(input.count, received: input.count, mayHaveMore: false)
  }

  func write(_ stream: Int, _ bytes: Span<UInt8>) -> StreamWrite {
    for index in 0..<bytes.count { streams[stream]?.output.append(bytes[index]) }
    return .taken(bytes.count, sent: bytes.count)
  }

  func drain(_ stream: Int) -> StreamWrite { .taken(0, sent: 0) }
  func hasBacklog(_ stream: Int) -> Bool { false }
  func isShakingHands(_ stream: Int) -> Bool { streams[stream]?.isShakingHands == true }
  func millisecondsSinceAcknowledgement(_ stream: Int) -> Int64 { 0 }
  func finish(_ stream: Int) { streams[stream]?.isFinished = true }
  func close(_ stream: Int) { streams[stream]?.isClosed = true }
  func logIsFinished() { hasFinishedWithLog = true }
  func submit(_ requests: [LogRequest]) {
    precondition(!hasFinishedWithLog, "a loop that has finished with the log submits nothing")
    submitted += requests
    onSubmit?(requests)
  }
  func read(_ request: ReadRequest) {}
  func post(_ message: LoopMessage, to loop: Int) { mail.append(message) }
  func verify(_ token: String, from host: HostKey?, for asker: VerificationAsker) {
    unverified.append((token, asker))
  }
  func use(_ devices: [String]) { used.append(devices) }
  func report(_ level: Diagnostics.Level, _ message: String, _ fields: [LogField]) {
    reports.append((level, message, fields))
  }
  func stopAccepting() {}
  func keep(_ work: FileWork, for worker: FileWorker) {
    if let result = onKeep?(work) { mail.append(.files(result, worker)) }
  }
  func fetchAvatar(of user: String, from url: String, for exchange: ExchangeID) {}
  func metrics(of loops: LoopSnapshot, openMetrics: Bool) -> HTTPResponse {
    HTTPResponse(status: 200, text: "")
  }
  func releaseMemory(keepingPlaces places: Int) {}
}

/// One loop over arrays.
struct ArrayLoop {
  let world = ArrayWorld()
  let loop: ConnectionLoop

  init(
    authenticator: Authenticator = Authenticator(verify: nil, botUsers: []),
    files: WebFiles = WebFiles(),
    _ configure: (inout ConnectionLimits) -> Void = { _ in }
  ) {
    var limits = ConnectionLimits()
    limits.handshakeTimeoutMilliseconds = 5000
    configure(&limits)
    var router = RequestRouter(origins: [], requiresLoopbackHost: false)
    router.files = files
    self.init(
      ConnectionLoop.Context(
        limits: limits, shard: Shard.Configuration(), router: router,
        authenticator: authenticator,
        admission: Admission(limits: limits, descriptors: nil), epoch: "first", loopCount: 1,
        compressesFromBytes: 1024, drainSeconds: 10))
  }

  private init(_ context: ConnectionLoop.Context) {
    loop = ConnectionLoop(index: 0, context: context, world: world, seed: 1)
  }

  /// Returns another loop, for whose trusted proxies the given function reads addresses.
  func trusting(_ read: @escaping @Sendable (String) -> HostKey?) -> ArrayLoop {
    var context = loop.context
    context.proxies = ProxyChain { read($0).map { ProxyChain.Hop(host: $0, isTrusted: false) } }
    return ArrayLoop(context)
  }

  /// Returns another loop, which keeps files.
  func keepingFiles(_ settings: FileSettings) -> ArrayLoop {
    var context = loop.context
    context.router.fileLimitBytes = settings.limitBytes
    context.files = settings
    return ArrayLoop(context)
  }

  /// Connects a client.
  /// - Returns: its stream.
  func connect(
    from host: HostKey = HostKey(network: 1, isIPv6: false),
    as peer: ServerConnection.Peer = .client
  ) -> Int {
    _ = loop.context.admission.admit(host, descriptor: 0, isProxy: peer == .proxy)
    let stream = loop.accept(from: peer == .operator ? nil : host, as: peer)
    world.streams[stream] = ArrayWorld.Stream()
    return stream
  }

  /// Adds input of a client, and runs the loop's turns.
  /// - Returns: the client's output.
  @discardableResult
  func send(_ bytes: some Sequence<UInt8>, on stream: Int) -> String {
    world.streams[stream]?.input += Array(bytes)
    loop.ready(stream, .readable)
    run()
    return takeOutput(of: stream)
  }

  func takeOutput(of stream: Int) -> String {
    defer { world.streams[stream]?.output = [] }
    return String(decoding: world.streams[stream]?.output ?? [], as: UTF8.self)
  }

  /// Advances the time, as sweeps see it.
  func pass(milliseconds: Int64) {
    let end = world.now.monotonic + milliseconds
    while world.now.monotonic < end {
      let step = min(Int64(ConnectionLoop.sweepMilliseconds), end - world.now.monotonic)
      world.now.monotonic += step
      world.now.wall += step
      loop.sweep()
      run()
    }
  }

  @discardableResult
  func run() -> ConnectionLoop.TurnEnd {
    while true {
      let mail = world.mail
      world.mail = []
      loop.take(mail)
      let end = loop.endTurn()
      if end != .goesOn, world.mail.isEmpty { return end }
    }
  }
}
