import Client
import Platform
import WebSocket
import Wire

/// A session with a clock that the test moves, and the actions that it requests.
final class SimulatedSession {
  let execution: SessionExecution
  var session: ClientSession { execution.session }
  var now = Instant(nanoseconds: 1_000_000_000_000)
  private(set) var events: [ClientEvent] = []
  private(set) var transmitted: [ClientMessage] = []
  private(set) var connects = 0
  private(set) var pings = 0
  private(set) var abandons = 0
  private(set) var closes = 0

  init(settings: SessionSettings = SessionSettings(), seed: UInt64 = 1) {
    execution = SessionExecution(ClientSession(idPrefix: "p", seed: seed, settings: settings))
    perform { $0.start(at: $1, &$2) }
  }

  /// What was transmitted since the last call.
  func takeTransmitted() -> [ClientMessage] {
    defer { transmitted = [] }
    return transmitted
  }

  /// What the user was told since the last call.
  func takeEvents() -> [ClientEvent] {
    defer { events = [] }
    return events
  }

  @discardableResult
  func receive(_ message: ServerMessage) -> Bool {
    var result = false
    hear()
    receive(message) { result = $0 }
    return result
  }

  func welcome(sendsPerSecond: Int = 0, burst: Int = 0, frameBytes: Int = 0) {
    var limits = ServerMessage.Welcome.Limits()
    limits.sendsPerSecond = sendsPerSecond
    limits.burst = burst
    limits.frameBytes = frameBytes
    receive(
      .welcome(
        .init(
          user: "ada", session: "s", server: "t/1", time: 0, heartbeatSeconds: 25, limits: limits)))
  }

  func joined(
    _ room: String, head: Int64, first: Int64 = 1, after: Int64, epoch: String = "e1",
    resume: ServerMessage.Resume = .ok, lineage: [EpochStart] = []
  ) -> Bool {
    receive(
      .joined(
        .init(
          room: room, epoch: epoch, head: head, first: first, after: after, resume: resume,
          read: 0, received: 0, members: nil, lineage: lineage)))
  }

  @discardableResult
  func entry(_ seq: Int64, in room: String = "r") -> Bool {
    receive(.message(Self.entry(seq, in: room)))
  }

  static func entry(_ seq: Int64, in room: String = "r") -> Entry {
    Entry(
      room: room, seq: seq, id: "i\(seq)", from: "bo", at: seq, kind: .text,
      body: Array("\"text\":\"\(seq)\"".utf8))
  }

  func ack(_ id: String, seq: Int64 = 1, room: String = "r") {
    receive(.ack(.init(room: room, id: id, seq: seq, at: 0, duplicate: false)))
  }

  func refuse(
    _ code: ErrorCode, re: RequestName, room: String = "r", id: String? = nil, retry: Int64? = nil
  ) {
    receive(
      .error(WireError(code, "no", re: re, room: room, id: id, retryAfterMilliseconds: retry)))
  }

  @discardableResult
  func send(_ text: String, to room: String = "r") -> String {
    sendText(text, to: room)
  }

  func join(_ room: String = "r", from start: JoinStart = .head) {
    perform { session, _, actions in session.join(room, from: start, &actions) }
  }

  func disconnect(_ error: ClientError = .lost(nil)) {
    perform { $0.disconnected(error, at: $1, &$2) }
  }

  /// Moves the clock, stopping wherever the session wants to do something.
  func advance(milliseconds: Int) {
    let end = now.adding(milliseconds: milliseconds)
    var stops = 0
    while let deadline = session.deadline, deadline <= end {
      now = max(now, deadline)
      tick()
      stops += 1
      precondition(stops < 10_000, "the session's deadline does not move")
    }
    now = end
  }

  /// Advances the clock to the next attempt to connect.
  func reconnect() {
    let before = connects
    while connects == before, let deadline = session.deadline {
      now = max(now, deadline)
      tick()
    }
  }

  var deliveredSequences: [Int64] {
    events.compactMap { if case .entry(let entry) = $0 { entry.seq } else { nil } }
  }
}

extension SimulatedSession: SessionExecutor {
  func openConnection() { connects += 1 }
  func transmit(_ message: ClientMessage) { transmitted.append(message) }
  func transmitPing() { pings += 1 }
  func closeConnection() { closes += 1 }
  func abandonConnection(_ code: CloseCode) { abandons += 1 }
  func report(_ event: ClientEvent) { events.append(event) }
  func follow(_ deadline: Instant?) {}
  func retire() {}
}

extension [ClientMessage] {
  /// The texts of the lines among them.
  var lines: [String] {
    compactMap { message in
      guard case .send(let send) = message else { return nil }
      return String(decoding: send.body, as: UTF8.self).split(separator: "\"").last.map(String.init)
    }
  }
}
