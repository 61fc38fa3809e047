import Client
import EventLoop
import TLS
import Wire

/// A client on a loop of its own, until the test has seen what it wants.
final class Watcher: ClientHandler, EventHandler {
  let loop: EventLoop
  let clients: ClientLoop
  let client: Client
  private(set) var events: [ClientEvent] = []
  private(set) var received: [String] = []
  private(set) var timedOut = false
  /// Called for each event; true ends the loop.
  private var isEnough: (Watcher, ClientEvent) -> Bool = { _, _ in false }

  init(
    _ url: String, user: String? = "ada", token: String? = nil, trust: TLSTrust = .system,
    compresses: Bool = true
  ) throws {
    loop = try EventLoop()
    clients = try ClientLoop(loop)
    var settings = SessionSettings()
    settings.firstBackoffMilliseconds = 5
    client = Client(
      .init(
        url: try RelayURL(url), user: user, token: token, trust: trust, settings: settings,
        compresses: compresses), on: clients)
    client.handler = self
  }

  func run(until isEnough: @escaping (Watcher, ClientEvent) -> Bool) {
    self.isEnough = isEnough
    // A test that would hang fails instead.
    loop.schedule(afterMilliseconds: 120_000, token: 0)
    client.start()
    loop.run(self)
  }

  func runUntilEnded() {
    run { _, event in if case .ended = event { true } else { false } }
  }

  func client(_ client: Client, _ event: ClientEvent) {
    events.append(event)
    if isEnough(self, event) { loop.stop() }
  }

  func client(_ client: Client, received json: Span<UInt8>) {
    received.append(
      unsafe json.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) })
  }

  func ready(_ registration: Registration, token: UInt64, _ readiness: Readiness) {
    clients.ready(registration, token: token, readiness)
  }

  func timerFired(_ timer: TimerID, token: UInt64) {
    if token == 0 {
      timedOut = true
      loop.stop()
    } else {
      clients.timerFired(timer, token: token)
    }
  }

  func beforeSleep() { clients.beforeSleep() }

  var texts: [String] {
    events.compactMap { if case .entry(let entry) = $0 { entry.text } else { nil } }
  }

  var ended: ClientError? {
    for case .ended(let error) in events { return error }
    return nil
  }

  var firstBreak: ClientError? {
    for case .disconnected(let error, _) in events { return error }
    return nil
  }
}
