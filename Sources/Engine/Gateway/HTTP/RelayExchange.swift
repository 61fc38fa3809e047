import Relay
import WebSocket
import Wire

/// An HTTP request that is one message of relay.v1.
///
/// `GET /v1/rooms/{room}/messages?after=&wait_s=` may wait for the next entry. While it waits, it
/// costs a session and an empty page.
final class RelayExchange: SessionExchange {
  private let message: HTTPCall.Message
  /// The answer to a long poll if no entry comes, and the room's last entry then.
  private var emptyPage: (json: [UInt8], head: Int64)?
  /// The room's last entry when it was read before.
  private var lastHead: Int64?
  private var isPolling = false
  /// When a long poll ends, in milliseconds of the loop's clock.
  private var pollsUntil: Int64 = 0
  /// How often a long poll has read its room again.
  private var rereads = 0

  init(
    _ message: HTTPCall.Message, _ call: HTTPCall, _ id: ExchangeID, _ loop: ConnectionLoop,
    _ connection: ServerConnection
  ) {
    self.message = message
    super.init(call, id, loop, connection)
  }

  override func start(_ content: [UInt8]) {
    guard isUTF8(content) else { return }
    var room: String?
    if case .send(let name, _) = message { room = name }
    if var problem = loop.charge(
      sends: room == nil ? 0 : 1, requests: room == nil ? 1 : 0, bytes: content.count,
      to: identity.user)
    {
      problem.room = room.flatMap { RoomName.isValid($0) ? $0 : nil }
      return finish(problem.response)
    }
    let session = open(lasts: call.poll != nil)
    if let poll = call.poll {
      pollsUntil = loop.now.monotonic + poll.milliseconds
      loop.shard.beginPolling(session, poll.room)
    }
    submit(message.json(content))
  }

  override func take(_ messages: [InternalMessage]) {
    for message in messages where response == nil {
      switch (self.message, message.value) {
      case (_, .error(let error)):
        answer(HTTPProblem(error, wall: loop.now.wall).response)
      case (.send, .ack(let ack)):
        if ack.duplicate { loop.context.budgets.refundDuplicate(of: identity.user) }
        answer(HTTPResponse(status: ack.duplicate ? 200 : 201, json: message.json))
      case (.history, .history(let page)) where call.poll?.isUnanswered(by: page) == true:
        emptyPage = (message.json, page.head)
      case (.history, .history), (.people, .people), (.rooms, .rooms):
        answer(HTTPResponse(status: 200, json: message.json))
      default: break
      }
    }
  }

  // MARK: - Long polls

  /// Waits for an entry, or reads the room again if it has a new one.
  override func step() {
    guard response == nil, !isPolling, let session = connection.session,
      let head = emptyPage?.head
    else { return }
    let mayWait = !loop.isShuttingDown && !connection.sawEnd && closing == nil
    guard mayWait, loop.now.monotonic < pollsUntil else { return finishPoll() }
    // It was woken, and found nothing: the room is hidden from the user, who is not to know how busy it is.
    let after = head == lastHead ? Int64.max : head
    guard loop.shard.awaitEntry(session, after: after) else { return readAgain() }
    isPolling = true
    connection.deadline = pollsUntil
  }

  /// Reads the room again. An entry of a folded page may change nothing that is on it, so all reads
  /// after the second one are charged.
  private func readAgain() {
    rereads += 1
    if rereads > 1,
      loop.context.budgets.take(.request, bytes: 0, from: identity.user, now: loop.now.monotonic)
        != nil
    {
      return finishPoll()
    }
    isPolling = false
    lastHead = emptyPage?.head
    emptyPage = nil
    if let poll = call.poll, let session = connection.session {
      loop.shard.beginPolling(session, poll.room)
    }
    connection.deadline = loop.now.monotonic + Self.answerMilliseconds
    submit(message.json([]))
  }

  /// Ends the wait with an empty page.
  private func finishPoll() {
    assert(emptyPage != nil, "a request waits only with a page that it can be answered with")
    if let emptyPage { finish(HTTPResponse(status: 200, json: emptyPage.json)) }
  }

  override func readPolled() { if isPolling { readAgain() } }

  /// The client may be gone, or wait for the answer with its side of the connection closed.
  override func clientClosed() { if isPolling { finishPoll() } }

  override func beginShutdown() { if isPolling { finishPoll() } }

  override func prolong(by milliseconds: Int64) { pollsUntil += milliseconds }

  override func timeOut() { if isPolling { finishPoll() } else { super.timeOut() } }
}

extension HTTPResponse {
  init(status: Int, json: [UInt8]) {
    self.init(status: status, contentType: "application/json", body: json)
  }
}
