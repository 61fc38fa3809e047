import Logging
import Wire

/// Handles received entries. One task per room answers its entries in order.
extension Bot {
  func receive(_ entry: Entry) {
    let room = entry.room
    guard var conversation = conversations[room] else { return }
    if case .leaving = conversation.phase {
      if !isBot(entry.from) { conversations[room]?.phase = .leaving(again: true) }
      return
    }
    guard !isBot(entry.from) else { return recordEntryOfBot(entry) }
    guard conversation.take(entry) else {
      conversations[room] = conversation
      return
    }
    let isFirst = !conversation.isAnswering
    conversation.isAnswering = true
    conversations[room] = conversation
    touch(room)
    send(.received(room: room, seq: entry.seq))
    if isFirst { start(.answer(room: room)) }
  }

  /// Records an entry of a bot, which is not answered.
  private func recordEntryOfBot(_ entry: Entry) {
    guard var conversation = conversations[entry.room], conversation.phase == .following,
      !conversation.isLagging, let taken = conversation.taken, entry.seq > taken
    else { return }
    conversation.taken = entry.seq
    if entry.from == description.user { conversation.hasSpoken = true }
    conversations[entry.room] = conversation
    guard entry.from != description.user else { return }
    // The read mark is cumulative: it must not pass an entry that is still to be answered.
    send(
      conversation.isAnswering
        ? .received(room: entry.room, seq: entry.seq) : .read(room: entry.room, seq: entry.seq))
  }

  /// Answers the queued entries of a room until the queue is empty.
  func answer(in room: String) async {
    while !hasEnded, !Task.isCancelled, let conversation = conversations[room],
      !conversation.queue.isEmpty
    {
      guard await isOnline(), let entry = conversations[room]?.queue.popFirst() else { break }
      await answer(entry)
    }
    guard !hasEnded, var conversation = conversations[room] else { return }
    conversation.isAnswering = false
    let isLagging = conversation.isLagging
    conversation.isLagging = false
    conversations[room] = conversation
    // The rest is in the log, after the last entry taken.
    if isLagging, conversation.phase == .following { enqueue(room) }
    startEnrolling()
  }

  private func answer(_ entry: Entry) async {
    let room = entry.room
    let isDirect = RoomName.isDirect(room)
    // Before the first answer in a room, only the read mark records the bot's position there.
    let mayReadFirst =
      isDirect || !description.answers || conversations[room]?.hasSpoken == true
    if mayReadFirst { send(.read(room: room, seq: entry.seq)) }
    guard entry.kind.isContent, !entry.isDeleted else {
      // Entries that change earlier ones, and deleted entries, are not answered.
      if !mayReadFirst { send(.read(room: room, seq: entry.seq)) }
      return
    }
    // An echo does not repeat the entry's reply reference or forward source.
    let said =
      entry.text.map { ClientMessage.Send(room: room, id: "", text: $0).body } ?? entry.body
    if let program, entry.seq > conversations[room]?.programAfter ?? 0 {
      await program.offer(entry)
    }
    var isAnswered = true
    for part in 1..<(1 + description.echoes) where isAnswered {
      isAnswered = await speak(
        AnswerID(.echo, to: entry.seq, part: part), kind: entry.kind, body: said, in: room)
    }
    if isAnswered, isDirect, description.playsScript,
      entry.seq > conversations[room]?.scriptEnd ?? 0
    {
      isAnswered = await play(to: entry)
    }
    if isAnswered, !mayReadFirst { send(.read(room: room, seq: entry.seq)) }
  }

  private func play(to entry: Entry) async -> Bool {
    let room = entry.room
    for (number, step) in description.script.enumerated() {
      let id = AnswerID(.script, to: entry.seq, part: number)
      switch step {
      case .wait(let duration):
        // After a restart the script continues: waits before messages that were sent are skipped.
        let wasPassed = conversations[room]?.sent.contains {
          $0.kind == .script && $0.seq == entry.seq && $0.part > number
        }
        if wasPassed == true { continue }
        guard (try? await time.sleep(duration)) != nil else { return false }
      case .say(let text):
        let body = ClientMessage.Send(room: room, id: "", text: text).body
        guard await speak(id, kind: .text, body: body, in: room) else { return false }
      }
    }
    return true
  }

  /// Shows typing for a while, and sends an answer.
  /// - Returns: whether the answer is done, also if the relay refused it permanently.
  private func speak(
    _ id: AnswerID, kind: EntryKind, body: [UInt8], in room: String
  ) async -> Bool {
    guard conversations[room]?.sent.contains(id) != true else { return true }
    var generator = dice.generator(
      id.kind == .echo ? "echo" : "script", room: room, number: id.seq, part: id.part)
    do {
      try await write(for: generator.duration(in: description.replyDelay), in: room)
    } catch {
      return false
    }
    switch await post(ClientMessage.Send(room: room, id: "\(id)", kind: kind, body: body)) {
    case .sent(let ack):
      conversations[room]?.hasSpoken = true
      if id.kind == .script, id.part == description.lastSaying {
        conversations[room]?.scriptEnd = ack.seq
      }
      return true
    case .refused: return true
    case .ended: return false
    }
  }

  /// The relay ends typing after 6 s.
  private static let typingRenewal = Duration.seconds(4)

  private func write(for delay: Duration, in room: String) async throws {
    var rest = delay
    while description.typing, rest > Self.typingRenewal {
      send(.typing(room: room, on: true))
      try await time.sleep(Self.typingRenewal)
      rest -= Self.typingRenewal
    }
    if description.typing { send(.typing(room: room, on: true)) }
    try await time.sleep(rest)
    guard description.uploadDelay > .zero else { return }
    if description.typing { send(.typing(room: room, on: false)) }
    try await time.sleep(description.uploadDelay)
  }
}

/// `every` and `exec`: lines that answer no entry.
extension Bot {
  func tickIfHeard(in room: String) {
    guard description.behaviours.contains(.every), !description.lines.isEmpty,
      let conversation = conversations[room], conversation.ticker == nil, hasAudience(room)
    else { return }
    let ticker = countEvent()
    conversations[room]?.ticker = ticker
    start(.tick(room: room, ticker: ticker))
  }

  /// Sends a line after each interval while the room has an audience.
  func tick(in room: String, as ticker: UInt64) async {
    defer { if conversations[room]?.ticker == ticker { conversations[room]?.ticker = nil } }
    while hasAudience(room), conversations[room]?.ticker == ticker {
      guard (try? await time.sleep(description.interval)) != nil else { return }
      guard hasAudience(room), let conversation = conversations[room],
        conversation.ticker == ticker
      else { return }
      let number = conversation.lines
      conversations[room]?.lines = number + 1
      let lines = description.lines
      var index = Int(number) % lines.count
      if description.seed != nil {
        var generator = dice.generator("every", room: room, number: number)
        index = Int.random(in: 0..<lines.count, using: &generator)
      }
      if case .ended = await post(
        ClientMessage.Send(room: room, id: nextID("every"), text: lines[index]))
      {
        return
      }
    }
  }

  /// Does what a line of the program asks for. Without a room, it answers the last message that the
  /// program was given.
  func deliver(_ line: Program.Line) async {
    guard await isOnline() else { return }
    do throws(WireError) {
      let action = try line.action(id: nextID("exec"), textLimitBytes: limits.textBytes) {
        conversations[$0]?.lastSaid
      }
      guard isIn(action.room) else {
        throw WireError(
          .forbidden,
          "The bot is not in the room \(action.room); list it under \"rooms\" of the bot.")
      }
      switch action {
      case .typing(let room, let isOn):
        if conversations[room]?.phase == .following { send(.typing(room: room, on: isOn)) }
      case .send(let send):
        if case .sent(let ack) = await post(send), send.kind.isContent {
          conversations[send.room]?.lastSaid = ack.seq
        }
      }
    } catch {
      warn(
        "The program of a bot printed a line that cannot be sent.", ["reason": "\(error.message)"])
    }
  }

  /// Whether it is one of the bot's rooms; a program cannot make the bot join others.
  private func isIn(_ room: String) -> Bool {
    if let (a, b) = RoomName.peers(of: room) {
      return a == description.user || b == description.user
    }
    return description.rooms.contains(room)
  }

  private func nextID(_ use: StaticString) -> String {
    idCount += 1
    return "\(use)-\(idPrefix)-\(idCount)"
  }
}

extension Array {
  fileprivate mutating func popFirst() -> Element? { isEmpty ? nil : removeFirst() }
}
