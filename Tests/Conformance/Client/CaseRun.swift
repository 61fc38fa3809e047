import Client
import EventLoop
import WebSocket

/// All cases of the suite, one connection after the other.
final class CaseRun: EventHandler {
  /// Why the cases could not be run; prints as a sentence.
  enum Failure: Error, CustomStringConvertible {
    case noConnection(String, ClientError)
    case noCount(String)

    var description: String {
      switch self {
      case .noConnection(let url, let error): "\(url): \(error)"
      case .noCount(let url): "\(url) did not answer with a number of cases; is it the suite?"
      }
    }
  }

  /// The suite's needs: messages of 16 MiB, and one of 65,536 fragments and an empty last one.
  private static let limits = Limits(
    frameBytes: 16 << 20, messageBytes: 16 << 20, fragments: 65_537)

  private let base: String
  private let agent: String
  private let loop: EventLoop
  private var connection: MessageConnection?
  private var count: Int?
  private var current = 0
  private var failure: Failure?

  init(base: String, agent: String) throws {
    self.base = base
    self.agent = agent
    loop = try EventLoop()
  }

  func play() throws {
    ask()
    if failure == nil { loop.run(self) }
    if let failure { throw failure }
  }

  private func ask() {
    let path = "/getCaseCount"
    connect(path) { [weak self] _, _, payload in
      self?.count = Int(Self.text(payload))
    }
  }

  private func runNextCase() {
    guard let count else { return stop(.noCount(base)) }
    guard current < count else { return stop(nil) }
    current += 1
    connect("/runCase?case=\(current)&agent=\(agent)") { connection, opcode, payload in
      connection.send(opcode, payload)
    }
  }

  private func connect(
    _ target: String, onMessage: @escaping (MessageConnection, Opcode, Span<UInt8>) -> Void
  ) {
    do throws(ClientError) {
      guard let url = try? RelayURL("\(base)\(target)") else { return stop(.noCount(base)) }
      // The number distinguishes this connection's events from late ones of the previous one.
      let connection = try MessageConnection(
        url, limits: Self.limits, on: loop, token: UInt64(current))
      connection.onMessage = onMessage
      connection.onEnd = { [weak self] reason in self?.ended(reason) }
      self.connection = connection
    } catch {
      stop(.noConnection(base, error))
    }
  }

  /// A case may end in any way, but it must have begun.
  private func ended(_ reason: ClientError) {
    connection = nil
    switch reason {
    case .unreachable, .refused, .handshake: stop(.noConnection(base, reason))
    default: runNextCase()
    }
  }

  private func stop(_ failure: Failure?) {
    self.failure = failure
    connection = nil
    loop.stop()
  }

  private static func text(_ payload: Span<UInt8>) -> String {
    var bytes: [UInt8] = []
    for index in payload.indices { bytes.append(payload[index]) }
    return String(decoding: bytes, as: UTF8.self)
  }

  // MARK: EventHandler

  func ready(_ registration: Registration, token: UInt64, _ readiness: Readiness) {
    if token == UInt64(current) { connection?.ready(readiness) }
  }

  func timerFired(_ timer: TimerID, token: UInt64) {}

  func beforeSleep() {}
}
