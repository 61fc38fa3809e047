public import EventLoop
public import Platform
internal import TLS
internal import WebSocket

/// What all clients of one event loop share: the read buffer, zlib's streams, the random numbers,
/// the resolver.
///
/// A handler of its own for a loop that runs nothing else (`loop.run(clients)`); otherwise pass on
/// `ready` and `timerFired` for tokens that are ours, and each `beforeSleep`.
public final class ClientLoop: EventHandler {
  /// Tokens with this bit belong to clients, those without it to others.
  public static let tokenBit: UInt64 = 1 << 63
  private static let resolverToken = tokenBit | (1 << 62)

  /// One read(2) takes at most so many bytes.
  static let readBytes = 64 * 1024

  /// The loop that all of this is confined to.
  public let loop: EventLoop

  private var clients: [Client?] = []
  private var free: [Int] = []
  /// Clients with something to send, or to tell.
  private var dirty: [Int] = []
  private let answers: Mailbox<Resolution>
  private var answersRegistration: Registration?
  /// Who waits for the addresses of a host; one thread asks for all of them.
  private var waiting: [Host: [Client]] = [:]
  /// Lent to the client that reads, and to the one that encodes.
  private var readBuffer = [UInt8](repeating: 0, count: ClientLoop.readBytes)
  private var scratch: [UInt8] = []
  /// Allocated once a server agrees to compress.
  let deflateStreams = DeflateStreams()
  var random = SystemRandomNumberGenerator()
  private var contexts: [TLSTrust: TLSContext] = [:]

  struct Host: Hashable, Sendable {
    let name: String
    let port: UInt16
  }

  private struct Resolution: Sendable {
    let host: Host
    let result: Result<[Address], AddressError>
  }

  /// Nobody is connected yet.
  public init(_ loop: EventLoop) throws(SystemError) {
    self.loop = loop
    answers = try Mailbox()
    answersRegistration = try loop.register(
      answers.descriptor, for: .readable, token: Self.resolverToken)
  }

  /// To be called before the loop outlives this object: its own descriptor leaves the loop.
  public func detach() {
    if let answersRegistration { loop.deregister(answersRegistration) }
    answersRegistration = nil
  }

  /// Clients that have started and not ended.
  public var count: Int { clients.count - free.count }

  // MARK: EventHandler

  /// Passes an event on to its client.
  public func ready(_ registration: Registration, token: UInt64, _ readiness: Readiness) {
    if token == Self.resolverToken { return takeAnswers() }
    client(of: token)?.ready(readiness)
  }

  /// Passes a timer on to its client.
  public func timerFired(_ timer: TimerID, token: UInt64) {
    client(of: token)?.timerFired(timer)
  }

  /// Sends what the turn has brought: one send(2) for each client that has something.
  public func beforeSleep() {
    // Telling a user may make more of them dirty: these are at the end of the same list.
    var index = 0
    while index < dirty.count {
      clients[dirty[index]]?.flush()
      index += 1
    }
    dirty.removeAll(keepingCapacity: true)
  }

  // MARK: For clients

  func insert(_ client: Client) -> Int {
    if let index = free.popLast() {
      clients[index] = client
      return index
    }
    clients.append(client)
    return clients.count - 1
  }

  func remove(_ index: Int) {
    clients[index] = nil
    free.append(index)
  }

  func markDirty(_ index: Int) { dirty.append(index) }

  static func token(of index: Int) -> UInt64 { tokenBit | UInt64(index) }

  private func client(of token: UInt64) -> Client? {
    let index = Int(token & ~Self.tokenBit)
    return index < clients.count ? clients[index] : nil
  }

  /// Takes the read buffer away for as long as a client's user is told what is in it.
  func borrowReadBuffer() -> [UInt8] {
    var buffer: [UInt8] = []
    swap(&buffer, &readBuffer)
    return buffer
  }

  func returnReadBuffer(_ buffer: consuming [UInt8]) { readBuffer = buffer }

  func withScratch(_ body: (inout [UInt8]) -> Void) {
    scratch.removeAll(keepingCapacity: true)
    body(&scratch)
  }

  /// Read once: all clients of one kind of trust share what it takes to verify certificates.
  func context(trusting trust: TLSTrust) throws(TLSFileError) -> TLSContext {
    if let context = contexts[trust] { return context }
    let context = try TLSContext(trusting: trust)
    contexts[trust] = context
    return context
  }

  func nextMaskKey() -> UInt32 { random.next() }

  /// Asks for a host's addresses: they arrive at `Client.resolved`, at once if the host is
  /// numeric.
  func resolve(_ host: Host, for client: Client) {
    if let address = Address(numericHost: host.name, port: host.port) {
      return client.resolved(host, .success([address]))
    }
    waiting[host, default: []].append(client)
    guard waiting[host]?.count == 1 else { return }
    let answers = self.answers
    do {
      // Dropped at once: the thread ends by itself.
      _ = try WorkerThread(name: "resolve") {
        let result = Result { () throws(AddressError) in
          try Address.resolve(host: host.name, port: host.port)
        }
        answers.post(Resolution(host: host, result: result))
      }
    } catch {
      let failure = AddressError.unresolved(host: host.name, reason: "\(error)")
      answers.post(Resolution(host: host, result: .failure(failure)))
    }
  }

  private func takeAnswers() {
    var resolutions: [Resolution] = []
    answers.drain(into: &resolutions)
    for resolution in resolutions {
      for client in waiting.removeValue(forKey: resolution.host) ?? [] {
        client.resolved(resolution.host, resolution.result)
      }
    }
  }
}
