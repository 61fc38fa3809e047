public import EventLoop
public import Platform
internal import TLS

/// The resources that all clients of one event loop share: those of their links, TLS contexts, the
/// resolver.
///
/// Serves as the handler of a loop that runs nothing else (`loop.run(clients)`). Otherwise the
/// loop's handler must forward `ready` and `timerFired` for tokens with `tokenBit`, and every
/// `beforeSleep`.
public final class ClientLoop: EventHandler {
  /// Tokens with this bit belong to clients; those without it belong to the rest of the program.
  public static let tokenBit = LinkLoop<Client>.tokenBit
  private static let resolverToken = tokenBit | (1 << 62)

  /// The loop that all of this is confined to.
  public let loop: EventLoop

  let executors = LinkLoop<Client>()
  private let answers: Mailbox<Resolution>
  private var answersRegistration: Registration?
  /// Clients that wait for the addresses of a host; one thread resolves it for all of them.
  private var waiting: [Host: [Client]] = [:]
  let links = LinkResources()
  private var contexts: [TLSTrust: TLSContext] = [:]

  package struct Host: Hashable, Sendable {
    let name: String
    let port: UInt16
  }

  private struct Resolution: Sendable {
    let host: Host
    let result: Result<[Address], AddressError>
  }

  /// Creates a loop without clients.
  public init(_ loop: EventLoop) throws(SystemError) {
    self.loop = loop
    answers = try Mailbox()
    answersRegistration = try loop.register(
      answers.descriptor, for: .readable, token: Self.resolverToken)
  }

  /// Removes this object's own descriptor from the loop; call it if the loop outlives this object.
  public func detach() {
    if let answersRegistration { loop.deregister(answersRegistration) }
    answersRegistration = nil
  }

  /// The number of clients that have started and not ended.
  public var count: Int { executors.count }

  // MARK: EventHandler

  /// Passes an event on to its client.
  public func ready(_ registration: Registration, token: UInt64, _ readiness: Readiness) {
    if token == Self.resolverToken { return takeAnswers() }
    executors[token]?.ready(readiness)
  }

  /// Passes a timer on to its client.
  public func timerFired(_ timer: TimerID, token: UInt64) {
    executors[token]?.timerFired(timer)
  }

  /// Sends the output of this turn: one send(2) for each client that has some.
  public func beforeSleep() { executors.flush() }

  // MARK: For clients

  /// Returns the context for a kind of trust; all clients with that trust share it, so that the
  /// authorities are read once.
  func context(trusting trust: TLSTrust) throws(TLSFileError) -> TLSContext {
    if let context = contexts[trust] { return context }
    let context = try TLSContext(trusting: trust)
    contexts[trust] = context
    return context
  }

  /// Asks for a host's addresses, which arrive at `Client.resolved`; at once if the host is
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
