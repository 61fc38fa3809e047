import Relay
import WebSocket
import Wire

/// The requests of one `POST /v1/requests`, and their answers so far.
///
/// A request has one answer, except for a `join` of several rooms, which is taken apart into one for
/// each room. Each gets a `ref` of the relay's own, by which its answer is found; the answer carries
/// the client's.
package struct RequestBatch {
  package static let requestsLimit = 100
  /// When the answers have this length, no further request is carried out: so all of them together
  /// are hardly longer than what waits for a WebSocket that does not read.
  static let answersLimitBytes = 131_072

  private struct Item {
    var request: ClientRequest
    var answer: [UInt8]?
  }

  private var items: [Item] = []
  private var rooms = 0
  /// The number of requests that were submitted or have an answer.
  private var reached = 0
  private var unanswered = 0
  /// The number of requests that were submitted and have no answer.
  private var pending = 0
  private var answeredBytes = 0
  /// What the user's budget is charged with.
  private(set) var sends = 0
  private(set) var requests = 0

  /// - Parameter content: of the HTTP request, in valid UTF-8.
  init(_ content: [UInt8], limits: Shard.Limits) throws(WireError) {
    guard let elements = RequestArray.elements(in: content.span) else {
      throw WireError(.badJSON, "The content must be a JSON array of requests.")
    }
    guard elements.count <= Self.requestsLimit else {
      throw WireError(
        .badField, "At most \(Self.requestsLimit) requests are carried out at once.")
    }
    for element in elements {
      do throws(WireError) {
        try add(
          ClientRequest(
            decoding: content.span.extracting(element), textLimitBytes: limits.textBytes,
            roomsLimit: limits.roomsPerConnection), limits)
      } catch {
        requests += 1
        refuse(error)
      }
    }
    if items.isEmpty { requests = 1 }
  }

  private mutating func add(_ request: ClientRequest, _ limits: Shard.Limits) throws(WireError) {
    switch request.message {
    case .auth, .presence:
      throw refusal(
        of: request, .badField, "\(request.message.type) concerns a connection, and this is none.",
        field: "type")
    case .send: sends += 1
    case .joinRooms(let joins):
      rooms += joins.count
      guard limits.roomsPerConnection == 0 || rooms <= limits.roomsPerConnection else {
        throw refusal(
          of: request, .tooManyRooms,
          "The requests join more than \(limits.roomsPerConnection) rooms.")
      }
      requests += 1 + max(0, joins.count - 1) / PendingJoins.roomsPerRequest
      for join in joins {
        switch join {
        case .success(let join): append(ClientRequest(.join(join), ref: request.ref))
        case .failure(let error): refuse(error)
        }
      }
      return
    default: requests += 1
    }
    append(request)
  }

  private mutating func append(_ request: ClientRequest) {
    items.append(Item(request: request))
    unanswered += 1
  }

  /// Adds a request that could not be read.
  private mutating func refuse(_ error: WireError) {
    let answer = ServerMessage.error(error).json
    answeredBytes += answer.count
    items.append(Item(request: ClientRequest(.ping(t: nil)), answer: answer))
  }

  // MARK: - Carrying out

  /// Whether there is another request to submit. Requests are refused here if the answers are too
  /// long.
  mutating func hasNext() -> Bool {
    while reached < items.count, items[reached].answer != nil { reached += 1 }
    guard reached < items.count else { return false }
    guard answeredBytes >= Self.answersLimitBytes else { return true }
    while reached < items.count {
      if items[reached].answer == nil {
        let text =
          "The answers before it have \(Self.answersLimitBytes) bytes; send it in another batch."
        answer(reached, refusal(of: items[reached].request, .tooLarge, text))
      }
      reached += 1
    }
    return false
  }

  /// Whether the next request has to wait for the answers to those before it: it reads what they
  /// may change.
  var nextMustWait: Bool {
    guard pending > 0, reached < items.count else { return false }
    return switch items[reached].request.message {
    case .history, .rooms, .people, .blocks, .reports: true
    default: false
    }
  }

  /// Returns the JSON of the next request; there is one.
  mutating func takeNext() -> [UInt8] {
    defer { reached += 1 }
    pending += 1
    return items[reached].request.message.json(ref: "\(reached)")
  }

  /// Takes a message of the relay, which may be an answer.
  /// - Returns: whether the message is the ack of a duplicate.
  mutating func take(_ message: InternalMessage) -> Bool {
    guard let index = ServerMessage.ref(in: message.json.span).flatMap({ Int($0) }),
      items.indices.contains(index), items[index].answer == nil
    else { return false }
    pending -= 1
    answer(index, ServerMessage.renamed(message.json, to: items[index].request.ref))
    guard case .send = items[index].request.message, case .ack(let ack) = message.value else {
      return false
    }
    return ack.duplicate
  }

  private mutating func answer(_ index: Int, _ json: [UInt8]) {
    items[index].answer = json
    answeredBytes += json.count
    unanswered -= 1
    assert(unanswered >= 0 && pending >= 0, "a request has one answer")
  }

  private mutating func answer(_ index: Int, _ error: WireError) {
    answer(index, ServerMessage.error(error).json)
  }

  /// Answers what is still unanswered.
  mutating func refuseRest(_ code: ErrorCode, _ text: String, retryAfterMilliseconds: Int64? = nil)
  {
    for index in items.indices where items[index].answer == nil {
      var error = refusal(of: items[index].request, code, text)
      error.retryAfterMilliseconds = retryAfterMilliseconds
      answer(index, error)
    }
  }

  private func refusal(
    of request: ClientRequest, _ code: ErrorCode, _ text: String, field: String? = nil
  ) -> WireError {
    var error = WireError(code, text, re: request.message.type, field: field)
    error.ref = request.ref
    switch request.message {
    case .join(let join): error.room = join.room
    case .leave(let room, _), .received(let room, _), .read(let room, _), .typing(let room, _),
      .accept(let room), .report(let room, _, _), .deleteRoom(let room):
      error.room = room
    case .history(let history): error.room = history.room
    case .send(let send):
      error.room = send.room
      error.id = send.id
    case .reports(let room), .erase(_, let room, _): error.room = room
    case .auth, .joinRooms, .rooms, .people, .presence, .ping, .block, .blocks, .ban: break
    }
    return error
  }

  // MARK: - The answers

  var isDone: Bool { unanswered == 0 }

  /// The answers, in the order of the requests.
  var json: [UInt8] {
    var json: [UInt8] = [UInt8(ascii: "[")]
    json.reserveCapacity(answeredBytes + items.count + 2)
    for (index, item) in items.enumerated() {
      if index > 0 { json.append(UInt8(ascii: ",")) }
      json += item.answer ?? []
    }
    json.append(UInt8(ascii: "]"))
    return json
  }
}
