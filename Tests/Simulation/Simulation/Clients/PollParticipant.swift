internal import Relay
internal import Wire

/// A client that reads a room by long polls, and sends batches of requests (`POST /v1/requests`), on
/// one connection. It checks that an answer is what the log has after its position, that no poll
/// waits while there is an entry, and that each request of a batch has its answer.
final class PollParticipant: HTTPParticipant {
  private enum Question {
    case poll(after: Int64)
    case batch([ClientMessage])
  }

  let name: String
  let user: String
  private(set) var http: HTTPEnd?
  unowned let world: Simulation
  private let index: Int
  private let room: String
  private var acts = true
  private var question: Question?
  private var askedAt: Int64 = 0
  /// When the log had an entry that the poll waits for.
  private var hasEntrySince: Int64?
  private var last: Int64 = 0
  private var nextAct: Int64
  private var lines = 0
  /// Lines that are not acknowledged.
  private var outbox: [ClientMessage.Send] = []

  /// Longer than the relay takes for any answer, in milliseconds.
  private static let patienceMilliseconds: Int64 = 45_000

  init(_ name: String, user: String, _ world: Simulation) {
    self.name = name
    self.user = user
    self.world = world
    index = world.clients.count
    room =
      Simulation.rooms.filter { RoomName.isOpen($0, to: user) }.randomElement(
        using: &world.random) ?? "a"
    nextAct = world.now.monotonic + world.pick(0...300)
  }

  private var ledger: Ledger.Room { world.referee.ledger.room(room) }

  // MARK: - A turn

  func turn() {
    let now = world.now.monotonic
    takeEvents()
    if case .poll(let after)? = question, hasEntrySince == nil, ledger.head > after {
      hasEntrySince = now
    }
    if question != nil, now - askedAt > Self.patienceMilliseconds {
      world.referee.tally.count(.clientTimedOut)
      drop()
    }
    if question == nil, nextAct <= now {
      ask()
      nextAct = now + world.pick(0...world.scenario.pauseMilliseconds)
    }
    http?.flush(world)
    schedule(index, at: [now + 100, max(now + 1, nextAct)], in: world)
  }

  private func ask() {
    let now = world.now.monotonic
    if http == nil {
      http = world.connectLink(user, kind: .honest).map(HTTPEnd.init)
      if http == nil { nextAct = now + world.pick(20...500) }
    }
    guard let http else { return }
    askedAt = now
    hasEntrySince = nil
    let query = http.link.query
    if world.chance(acts ? 60 : 20) || !acts && outbox.isEmpty {
      let seconds = world.pick(0...10)
      http.request(
        "GET",
        "\(messages(of: room))?\(query)&after=\(last)&limit=5&wait_s=\(seconds)")
      question = .poll(after: last)
    } else {
      let batch = batch()
      let content = batch.map { String(decoding: $0.json, as: UTF8.self) }.joined(separator: ",")
      http.request(
        "POST", "/v1/requests?\(query)", content: Array("[\(content)]".utf8))
      question = .batch(batch)
    }
  }

  private func batch() -> [ClientMessage] {
    while acts, outbox.count < world.pick(0...4) {
      lines += 1
      outbox.append(
        ClientMessage.Send(
          room: room, id: "\(name)-\(lines)",
          text: Speech.text(name, lines, using: &world.random)))
    }
    var batch: [ClientMessage] = outbox.map { .send($0) }
    for line in outbox { world.referee.recordSent(line, by: user) }
    let others: [ClientMessage] = [
      .join(.init(room: room, after: last)), .typing(room: room, on: true), .ping(t: nil),
      .received(room: room, seq: last), .read(room: room, seq: last), .rooms(.init()),
      .history(.init(room: room, limit: 3)), .leave(room: room, forget: false),
    ]
    batch += others.filter { _ in world.chance(30) }
    for case .read(_, let seq) in batch {
      world.referee.ledger.recordReadAsked(seq, of: user, in: room)
    }
    return batch.shuffled(using: &world.random)
  }

  // MARK: - Answers

  private func fault(_ text: String) { world.referee.fault("\(name): \(text)") }

  func take(_ response: HTTPEnd.Response, _ link: Link) {
    guard let asked = question else { return }
    question = nil
    world.referee.trace { "\(link.number) ← HTTP \(response.status)" }
    world.referee.digest(response.body.span)
    if response.status == 503 || response.status == 429 || response.status == 404 {
      nextAct = world.now.monotonic + (response.retryAfterMilliseconds ?? 1000)
      return drop()
    }
    guard response.status == 200 else {
      return fault("\(response.status): \(String(decoding: response.body, as: UTF8.self))")
    }
    switch asked {
    case .poll(let after): check(response, after: after, link)
    case .batch(let batch): check(response, of: batch, link)
    }
  }

  private func check(_ response: HTTPEnd.Response, after: Int64, _ link: Link) {
    guard case .history(let page)? = try? ServerMessage(decoding: response.body.span) else {
      return fault("a poll is answered with something that is not a page")
    }
    world.referee.tally.count(.polled)
    // If the answer is from an earlier process, the log may have been restored since.
    guard link.life == world.life else { return }
    if page.head < after {
      last = page.head
      return
    }
    if let since = hasEntrySince, page.entries.isEmpty {
      world.recordWait(since: since, "for an entry by a long poll")
    }
    var expected = max(after, page.first - 1)
    for entry in page.entries {
      expected += 1
      if entry.seq != expected { fault("\(room) \(entry.seq) came instead of \(expected)") }
      if entry.kind == .hidden,
        world.referee.ledger.hides(entry.seq, in: room, from: user) != false
      {
        continue
      }
      if world.referee.ledger.hides(entry.seq, in: room, from: user) == true {
        fault("\(room) \(entry.seq) is of a user who was blocked")
      }
      if let truth = world.referee.ledger.entry(room, entry.seq), truth.id != entry.id {
        fault("\(room) \(entry.seq) differs from the log: \(entry.id)")
      }
    }
    if !page.entries.isEmpty { world.referee.tally.count(.pollAnswered) }
    last = page.entries.isEmpty && after >= page.first - 1 ? after : expected
  }

  private func check(_ response: HTTPEnd.Response, of batch: [ClientMessage], _ link: Link) {
    let body = response.body
    guard let elements = RequestArray.elements(in: body.span), elements.count == batch.count else {
      return fault("a batch of \(batch.count): \(String(decoding: body, as: UTF8.self))")
    }
    for (message, element) in zip(batch, elements) {
      guard let answer = try? ServerMessage(decoding: body.span.extracting(element)) else {
        return fault("an answer to \(message) that is not a message")
      }
      world.referee.tally.count(.batched)
      check(answer, to: message, link)
    }
  }

  private func check(_ answer: ServerMessage, to message: ClientMessage, _ link: Link) {
    switch (message, answer) {
    case (.send(let send), .ack(let ack)):
      outbox.removeAll { $0.id == send.id }
      if ack.id != send.id || ack.room != room { fault("\(ack) to \(send.id)") }
      guard link.life == world.life, ack.seq >= ledger.first else { return }
      let entry = world.referee.ledger.entry(room, ack.seq)
      if entry?.id != send.id || entry?.from != user {
        fault("\(send.id) is acknowledged, but is not \(room) \(ack.seq)")
      }
    case (_, .error(let error)):
      let isKnown = [.unavailable, .notJoined, .superseded, .noSuchRoom].contains(error.code)
      if !isKnown || error.re != message.type { fault("\(error) to \(message)") }
    case (.join, .joined), (.leave, .left), (.typing, .ok), (.received, .ok), (.read, .ok),
      (.rooms, .rooms), (.history, .history), (.ping, .pong):
      break
    default: fault("\(answer) to \(message)")
    }
  }

  func drop() {
    if let http { world.abandon(http.link) }
    http = nil
    question = nil
    nextAct = max(nextAct, world.now.monotonic + world.pick(0...500))
  }

  // MARK: - End of the run

  func stopActing() { acts = false }

  var isIdle: Bool { outbox.isEmpty && last == ledger.head }

  func checkIdle() {
    if let line = outbox.first { fault("\(line.id) was never acknowledged") }
    if last != ledger.head { fault("its polls of \(room) end at \(last), not \(ledger.head)") }
  }
}
