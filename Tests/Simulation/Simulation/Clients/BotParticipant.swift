internal import Gateway
internal import Relay
internal import Synchronization
internal import Wire

/// The relay's end of a simulated bot: collects what the relay writes, and is full at times.
final class SimulatedBot: BotEnd {
  private struct State {
    var messages: [InternalMessage] = []
    var isFull = false
    var isClosed = false
  }

  let user: String
  private let state = Mutex(State())

  init(user: String) { self.user = user }

  func take(_ messages: [InternalMessage]) -> Bool {
    state.withLock { state in
      if !state.isFull { state.messages += messages }
      return !state.isFull
    }
  }

  func close() { state.withLock { $0.isClosed = true } }

  var isClosed: Bool { state.withLock { $0.isClosed } }
  var isFull: Bool { state.withLock { $0.isFull } }
  func setFull(_ isFull: Bool) { state.withLock { $0.isFull = isFull } }

  func takeMessages() -> [InternalMessage] {
    state.withLock { state in
      defer { state.messages = [] }
      return state.messages
    }
  }
}

/// A bot of the relay: joins rooms, and replies to messages there. It checks that it receives every
/// entry of its rooms once and in order, and that each of its messages is answered.
final class BotParticipant: Participant {
  let name = "bot"
  let user = "echo.bot"
  var end: ClientEnd? { nil }
  private unowned let world: Simulation
  private let index: Int
  private var bot: SimulatedBot?
  /// The life of the relay's process to which it belongs.
  private var life = 0
  private var loop = 0
  private var acts = true
  /// The last entry of each room that it has joined.
  private var positions: [String: Int64] = [:]
  private var unanswered: Set<String> = []
  private var sent = 0

  init(_ world: Simulation) {
    self.world = world
    index = world.clients.count
  }

  func turn() {
    if life != world.life || bot?.isClosed == true { leave() }
    if bot == nil { connect() }
    if let bot { use(bot) }
    world.wake(client: index, in: world.pick(5...100))
  }

  private func leave() {
    bot = nil
    positions = [:]
    unanswered = []
  }

  private func connect() {
    guard let relay = world.relay, !relay.isShuttingDown else { return }
    life = world.life
    loop = Int.random(in: relay.loopIndices, using: &world.random)
    let bot = SimulatedBot(user: user)
    self.bot = bot
    tell(.connectBot(bot))
    for room in ["a", "c"] { say(.join(.init(room: room))) }
  }

  private func use(_ bot: SimulatedBot) {
    for message in bot.takeMessages() { take(message) }
    if bot.isFull {
      if !acts || world.chance(20) {
        bot.setFull(false)
        tell(.botDrained(bot))
      }
    } else if acts, world.chance(5) {
      bot.setFull(true)
    } else if acts, world.chance(2) {
      tell(.botGone(bot))
      leave()
    }
  }

  private func tell(_ message: LoopMessage) {
    world.relay?.post(message, to: loop)
    world.wake(loop: loop, in: 0)
  }

  private func say(_ message: ClientMessage) {
    guard let bot else { return }
    if case .send(let send) = message {
      world.referee.recordSent(send, by: user)
      world.referee.tally.count(.botSaid)
      unanswered.insert(send.id)
    }
    tell(.fromBot(bot, message.json))
  }

  private func take(_ message: InternalMessage) {
    world.referee.digest(message.json.span)
    guard let message = message.value else {
      return world.referee.fault("the bot received something that is not a message")
    }
    switch message {
    case .joined(let told): positions[told.room] = told.after
    case .message(let entry):
      guard let last = positions[entry.room] else {
        return world.referee.fault(
          "the bot received an entry of \(entry.room), which it has not joined")
      }
      if entry.seq != last + 1 {
        world.referee.fault("the bot received \(entry.room) \(entry.seq) after \(last)")
      }
      positions[entry.room] = entry.seq
      world.referee.tally.count(.botTold)
      if acts, entry.from != user, world.chance(10) { answer(entry) }
    case .ack(let ack): unanswered.remove(ack.id)
    case .error(let error):
      if error.re == .send, let id = error.id { unanswered.remove(id) }
      if error.re == .join, error.retryAfterMilliseconds != nil, let room = error.room {
        say(.join(.init(room: room)))
      }
    default: break
    }
  }

  private func answer(_ entry: Entry) {
    sent += 1
    say(.send(.init(room: entry.room, id: "bot-\(life)-\(sent)", text: "about \(entry.seq)")))
  }

  // MARK: - End of the run

  func stopActing() { acts = false }

  var isIdle: Bool { unanswered.isEmpty }

  func checkIdle() {
    if let id = unanswered.min() { world.referee.fault("the bot's \(id) was never answered") }
  }
}
