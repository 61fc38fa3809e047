import Platform
import Relay
import SQLiteLog
import Synchronization
import TestSupport
import Testing
import Wire

/// Event loops as a test plays them: submits requests, and waits for what is published.
final class LogHarness: Sendable {
  private struct Loop {
    var deliveries: [LogDelivery] = []
    var submitter: CheckedContinuation<LogDelivery, Never>?
    var readers: [Int32: CheckedContinuation<LogAnswer, Never>] = [:]
  }
  private struct State {
    var loops: [Loop]
    var reads: Int32 = 0
  }

  let log: any Log
  private let state: Mutex<State>

  /// Starts the log.
  init(_ log: any Log, loops: Int = 1) throws {
    self.log = log
    state = Mutex(State(loops: Array(repeating: Loop(), count: loops)))
    try log.start(loops: loops, framing: .test) { [weak self] loop, delivery in
      self?.take(delivery, loop)
    }
  }

  /// Everything published to a loop so far.
  func deliveries(to loop: Int = 0) -> [LogDelivery] {
    state.withLock { $0.loops[loop].deliveries }
  }

  /// The entries published to a loop so far.
  func entries(to loop: Int = 0) -> [Entry] {
    deliveries(to: loop).flatMap { $0.commit?.entries ?? [] }
  }

  /// Submits a batch and waits for the delivery that completes it.
  @discardableResult
  func submit(_ requests: [LogRequest], from loop: Int = 0) async -> LogDelivery {
    let delivery = await withCheckedContinuation { continuation in
      state.withLock { $0.loops[loop].submitter = continuation }
      log.submit(requests, from: loop)
    }
    // Thread Sanitizer does not see that a continuation orders its two sides; it does see a lock.
    state.withLock { _ in }
    return delivery
  }

  /// Reads on behalf of a session of its own, and waits for the answer. A request of the loop itself
  /// does not use the session, and is made alone.
  func read(from loop: Int = 0, _ request: (SessionID) -> ReadRequest) async -> LogAnswer {
    let answer = await withCheckedContinuation { continuation in
      let request = state.withLock { state in
        state.reads += 1
        let request = request(SessionID(index: state.reads, generation: .max))
        let place = (request.session ?? .loop).slot.place
        state.loops[loop].readers[place] = continuation
        return request
      }
      log.read(request, from: loop)
    }
    state.withLock { _ in }
    return answer
  }

  private func take(_ delivery: LogDelivery, _ loop: Int) {
    let resume = state.withLock { state -> [@Sendable () -> Void] in
      state.loops[loop].deliveries.append(delivery)
      var resume: [@Sendable () -> Void] = []
      if delivery.completesSubmit, let submitter = state.loops[loop].submitter.take() {
        resume.append { submitter.resume(returning: delivery) }
      }
      for answer in delivery.answers where answer.session.generation == .max {
        if let reader = state.loops[loop].readers.removeValue(forKey: answer.session.slot.place) {
          resume.append { reader.resume(returning: answer) }
        }
      }
      return resume
    }
    for resume in resume { resume() }
  }
}

extension LogHarness {
  func subscribe(
    _ room: String, as user: String, after: Int64? = nil, epoch: String? = nil,
    lineage: [EpochStart]? = nil, from loop: Int = 0
  ) async -> ServerMessage.Joined? {
    let delivery = await submit(
      [.subscribe(room, user, after: after, epoch: epoch, lineage: lineage)], from: loop)
    for case .subscribed(_, let subscribed) in delivery.answers { return subscribed.joined }
    return nil
  }

  func memberships(
    of user: String, listed: [String] = [], slice limit: Int = 256
  ) async -> [LogAnswer.Membership] {
    var all: [LogAnswer.Membership] = []
    var (listed, after) = (listed, Optional(MembershipsCursor.start))
    while let cursor = after {
      let delivery = await submit([
        .memberships(ticket: 7, user: user, listed: listed, after: cursor, limit: limit)
      ])
      (listed, after) = ([], nil)
      for case .memberships(7, user, let memberships, let next, _) in delivery.answers {
        all += memberships
        after = next
      }
    }
    return all
  }

  func history(
    _ request: ClientMessage.HistoryRequest, by asker: ReadRequest.Asker = .test,
    mayCreate: Bool = false, limitBytes: Int = 131_072
  ) async -> ServerMessage? {
    let answer = await read {
      .history($0, request, by: asker, mayCreate: mayCreate, limitBytes: limitBytes)
    }
    guard case .reply(_, let json) = answer else { return nil }
    return try? ServerMessage(decoding: json.span)
  }

  /// Waits until a room keeps no entry before `first`, which no entry tells. Until then a look at what is no longer
  /// kept may come between two reads.
  func becomesFirst(
    _ first: Int64, of room: String = "r", sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    var found: Int64?
    let isFound = try await eventually {
      (log as? MemoryLog)?.retain(monotonic: Int64(Instant.now().nanoseconds / 1_000_000))
      guard case .history(let page)? = await history(.init(room: room)) else { return false }
      found = page.first
      return found == first
    }
    if !isFound { Issue.record("It is \(found ?? -1).", sourceLocation: sourceLocation) }
  }

  func page(
    _ room: String, for user: String = "ada", after: Int64, through: Int64,
    limitBytes: Int = 65_536
  ) async -> EntriesPage? {
    let answer = await read {
      .entries($0, room: room, user: user, after: after, through: through, limitBytes: limitBytes)
    }
    guard case .entries(_, let page) = answer else { return nil }
    return page
  }
}

extension Framing {
  /// Four bytes, as in the frame of a payload of 126 to 65,535 bytes.
  static let test = Framing { payloadBytes, frames in
    frames += [0x81, 126, UInt8(payloadBytes >> 8 & 255), UInt8(payloadBytes & 255)]
  }
}

extension Frames {
  var entries: [Entry] {
    (0..<count).compactMap { try? Entry(decoding: Array(payload($0)).span) }
  }
}

extension Commit {
  var entries: [Entry] { frames.entries }
}

extension SessionID {
  static let test = SessionID(index: 1, generation: 1)
}

extension LogRequest {
  static func append(
    _ room: String, _ user: String, _ id: String, text: String = "hi",
    session: SessionID = .test, mayCreate: Bool = true
  ) -> LogRequest {
    let send = ClientMessage.Send(room: room, id: id, text: text)
    return .append(
      Append(
        session: session, room: room, user: user, id: id, kind: .text, body: send.body,
        mayCreate: mayCreate))
  }

  static func append(
    _ send: ClientMessage.Send, from user: String, isOperator: Bool = false, mayCreate: Bool = true
  ) -> LogRequest {
    .append(
      Append(
        session: .test, room: send.room, user: user, id: send.id, kind: send.kind,
        body: send.body, reference: send.reference, mayCreate: mayCreate, isOperator: isOperator))
  }

  static func append(
    _ room: String, _ user: String, _ id: String, data: String
  ) -> LogRequest {
    .append(
      Append(
        session: .test, room: room, user: user, id: id, kind: .data,
        body: Array("\"data\":\(data)".utf8), mayCreate: true))
  }

  static func subscribe(
    _ room: String, _ user: String, after: Int64? = nil, epoch: String? = nil,
    lineage: [EpochStart]? = nil, session: SessionID = .test, mayCreate: Bool = true
  ) -> LogRequest {
    .subscribe(
      Subscribe(
        session: session, room: room, user: user, after: after, epoch: epoch, lineage: lineage,
        mayCreate: mayCreate))
  }
}

extension SessionID {
  /// Stands for none.
  static var loop: Self { SessionID(index: 0, generation: .max) }
}

extension LogAnswer {
  var session: SessionID {
    switch self {
    case .users, .file: .loop
    case .memberships, .traced: .test
    case .answer(let origin, _): origin.session
    case .ack(let session, _), .refused(let session, _), .subscribed(let session, _),
      .entries(let session, _), .reply(let session, _), .read(let session, _),
      .glimpses(let session, _), .lastSeen(let session, _):
      session
    }
  }
}

extension LogAnswer {
  /// The users of an answer to `ReadRequest.users`; `nil` if it is another one, or they could not be
  /// read.
  var users: [String]? { if case .users(.page(let users)) = self { users } else { nil } }
}

extension ReadRequest.Asker {
  static let test = ReadRequest.Asker(user: "ada", now: 0)
}

extension LogDelivery {
  var acks: [ServerMessage.Ack] { answers.acks }
  var refusals: [WireError] { answers.refusals }
}

extension [LogAnswer] {
  var acks: [ServerMessage.Ack] {
    compactMap { if case .ack(_, let ack) = $0 { ack } else { nil } }
  }

  var refusals: [WireError] {
    compactMap { if case .refused(_, let error) = $0 { error } else { nil } }
  }
}

extension ServerMessage {
  /// That of an error; `nil` for any other message.
  var code: ErrorCode? { if case .error(let error) = self { error.code } else { nil } }
}
