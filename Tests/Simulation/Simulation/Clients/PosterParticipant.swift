internal import Relay
internal import Wire

/// A client that posts over HTTP, repeats each line until it is accepted or permanently refused,
/// and reads entries and people. Several requests are in flight on one connection, and none waits
/// for another.
///
/// It checks that an entry answered with 201 or 200 is in the log, under the `seq` of the answer.
final class PosterParticipant: HTTPParticipant {
  /// A request that is in flight.
  private enum Question {
    case post(ClientMessage.Send)
    /// The same id as an accepted line, possibly with another text.
    case again(ClientMessage.Send)
    /// With the head of the room at that time.
    case history(String, head: Int64)
    case people
    case readiness
  }

  let name: String
  let user: String
  private(set) var http: HTTPEnd?
  unowned let world: Simulation
  private let index: Int
  private var acts = true
  private var questions: [Question] = []
  /// The line that is to be posted, or is in flight; the next one waits until it is answered.
  private var line: ClientMessage.Send?
  private var lineIsUnderWay = false
  private var lines = 0
  private var accepted: [ClientMessage.Send] = []
  private var nextAct: Int64
  private var connectAt: Int64
  private var askedAt: Int64 = 0

  /// Longer than the relay takes for any answer, in milliseconds.
  private static let patienceMilliseconds: Int64 = 40_000

  init(_ name: String, user: String, _ world: Simulation) {
    self.name = name
    self.user = user
    self.world = world
    index = world.clients.count
    connectAt = world.now.monotonic + world.pick(0...300)
    nextAct = connectAt
  }

  // MARK: - A turn

  func turn() {
    let now = world.now.monotonic
    takeEvents()
    if acts, nextAct <= now {
      act()
      nextAct = now + world.pick(0...world.scenario.pauseMilliseconds * 3)
    }
    if line != nil, !lineIsUnderWay { post() }
    if http != nil, !questions.isEmpty, now - askedAt > Self.patienceMilliseconds {
      world.referee.tally.count(.clientTimedOut)
      drop()
    }
    http?.flush(world)
    schedule()
  }

  private func schedule() {
    let now = world.now.monotonic
    var next = [now + 3000]
    if acts { next.append(nextAct) }
    if line != nil, !lineIsUnderWay { next.append(connectAt) }
    schedule(index, at: next, in: world, pause: 1)
  }

  private func act() {
    if line == nil, world.chance(70) {
      lines += 1
      let room = room(in: Simulation.rooms, using: &world.random)
      line = ClientMessage.Send(
        room: room, id: "\(name)-\(lines)",
        text: Speech.text(name, lines, using: &world.random))
    }
    if world.chance(30) { ask() }
  }

  private func connection() -> HTTPEnd? {
    if let http { return http }
    let now = world.now.monotonic
    guard connectAt <= now else { return nil }
    guard let link = world.connectLink(user, kind: .honest) else {
      connectAt = now + world.pick(20...500)
      return nil
    }
    let http = HTTPEnd(link)
    self.http = http
    return http
  }

  private func post() {
    guard let line, let http = connection() else { return }
    lineIsUnderWay = true
    post(line, over: http)
    expect(.post(line))
  }

  private func post(_ line: ClientMessage.Send, over http: HTTPEnd) {
    world.referee.recordSent(line, by: user)
    world.referee.tally.count(.posted)
    let text = String(decoding: ClientMessage.send(line).json, as: UTF8.self)
    // Some requests have `Expect: 100-continue`.
    let head = world.chance(10) ? ["Expect: 100-continue"] : []
    http.request(
      "POST", "\(messages(of: line.room))?\(http.link.query)", head,
      content: Array(text.utf8))
  }

  private func ask() {
    guard let http = connection(), questions.count < 4 else { return }
    world.referee.tally.count(.askedOverHTTP)
    let method = world.chance(80) ? "GET" : "HEAD"
    switch Int.random(in: 0..<4, using: &world.random) {
    case 0:
      guard var line = accepted.randomElement(using: &world.random) else { return }
      if world.chance(60) { line = .init(room: line.room, id: line.id, text: "\(name) again") }
      post(line, over: http)
      expect(.again(line))
    case 1:
      let room = room(in: Simulation.rooms + Simulation.dens, using: &world.random)
      http.request(method, "\(messages(of: room))?\(http.link.query)&limit=5&fold")
      expect(.history(room, head: world.referee.ledger.room(room).head))
    case 2:
      http.request(method, "/v1/people?\(http.link.query)&limit=3")
      expect(.people)
    default:
      http.request(method, "/readyz")
      expect(.readiness)
    }
  }

  private func expect(_ question: Question) {
    if questions.isEmpty { askedAt = world.now.monotonic }
    questions.append(question)
  }

  // MARK: - Answers

  func take(_ response: HTTPEnd.Response, _ link: Link) {
    guard !questions.isEmpty else { return }
    let question = questions.removeFirst()
    askedAt = world.now.monotonic
    world.referee.trace { "\(link.number) ← HTTP \(response.status)" }
    world.referee.digest(response.body.span)
    let isForNow = response.status == 503 || response.status == 429
    switch question {
    case .post(let send):
      lineIsUnderWay = false
      if isForNow {
        connectAt = world.now.monotonic + (response.retryAfterMilliseconds ?? 1000)
      } else if response.status == 201 || response.status == 200 {
        check(response, of: send, link)
        accepted = accepted.suffix(20) + [send]
        line = nil
        world.referee.tally.count(response.status == 201 ? .postTaken : .postKnown)
      } else {
        fault(response, "a post to \(send.room)")
      }
    case .again(let send):
      if isForNow { break }
      if response.status == 409 {
        checkConflict(response, of: send, link)
      } else if response.status == 201 || response.status == 200 {
        check(response, of: send, link)
      } else {
        fault(response, "a post of a known id to \(send.room)")
      }
    case .history(let room, let head):
      // A room may not exist any more after a store was wiped, or for this user.
      if response.status == 404 || isForNow { break }
      if response.status == 403, Simulation.dens.contains(room) { break }
      guard response.status == 200 else { return fault(response, "a question") }
      check(response, of: room, since: head, link)
    case .people:
      if isForNow { break }
      guard response.status == 200 else { return fault(response, "a question") }
      if !response.body.isEmpty, (try? ServerMessage(decoding: response.body.span)) == nil {
        fault(response, "a question, answered with something that is not a message")
      }
    case .readiness:
      world.referee.tally.count(response.status == 200 ? .ready : .unready)
      if response.status != 200, !isForNow { fault(response, "/readyz") }
    }
    if isForNow { drop() }
  }

  /// Checks that the user may read what a page of history has.
  private func check(
    _ response: HTTPEnd.Response, of room: String, since head: Int64, _ link: Link
  ) {
    if response.body.isEmpty { return }
    guard case .history(let page)? = try? ServerMessage(decoding: response.body.span) else {
      return fault(response, "a question, answered with something that is not a page")
    }
    guard link.life == world.life else { return }
    for entry in page.entries
    where entry.kind != .hidden
      && world.referee.ledger.hides(entry.seq, in: room, from: user) == true
    {
      fault(response, "a question for \(room) \(entry.seq), which is of a user who was blocked")
    }
    let rights = world.referee.ledger.room(room).rights
    for entry in page.entries
    where !rights.mayRead(entry.seq, by: user, since: head, world.referee.latestWall) {
      fault(response, "a question for \(room) \(entry.seq), which the user may not read")
    }
  }

  private func check(_ response: HTTPEnd.Response, of send: ClientMessage.Send, _ link: Link) {
    guard case .ack(let ack)? = try? ServerMessage(decoding: response.body.span),
      ack.room == send.room, ack.id == send.id
    else { return fault(response, "a post to \(send.room)") }
    // If the answer is from an earlier process, the log may have been restored since.
    guard link.life == world.life, ack.seq >= world.referee.ledger.room(ack.room).first else {
      return
    }
    let ledger = world.referee.ledger
    let entry = ledger.entry(ack.room, ack.seq)
    if entry?.id != send.id || entry?.from != user
      || ledger.hasContent(of: send, ack.seq) == false && !ledger.isRedacted(ack.room, ack.seq)
    {
      world.referee.fault(
        "\(name): \(send.id) is acknowledged, but is not \(ack.room) \(ack.seq)")
    }
  }

  private func checkConflict(
    _ response: HTTPEnd.Response, of send: ClientMessage.Send, _ link: Link
  ) {
    world.referee.tally.count(.conflictTold)
    guard link.life == world.life else { return }
    let ledger = world.referee.ledger
    let body = String(decoding: response.body, as: UTF8.self)
    guard let seq = ledger.seqs[.init(room: send.room, user: user, id: send.id)] else { return }
    func names(_ seq: Int64) -> Bool {
      body.contains("\"code\":\"id_conflict\"") && body.contains("\"seq\":\(seq)}")
    }
    // It may name an entry that was kept when it was written: the id has been free for another since.
    if (0..<ledger.room(send.room).first).contains(where: names) { return }
    if !names(seq) || ledger.hasContent(of: send, seq) == true {
      fault(response, "a post of \(send.id) to \(send.room)")
    }
  }

  func drop() {
    if let http { world.abandon(http.link) }
    http = nil
    questions = []
    lineIsUnderWay = false
    connectAt = max(connectAt, world.now.monotonic + world.pick(0...500))
  }

  // MARK: - End of the run

  func stopActing() { acts = false }

  var isIdle: Bool { line == nil }

  func checkIdle() {
    if let line { world.referee.fault("\(name): \(line.id) was never accepted by \(line.room)") }
  }
}
