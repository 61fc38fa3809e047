internal import EventLoop
internal import Platform
internal import TLS
internal import WebSocket

/// Reading, counting and sending.
extension RawEngine {
  mutating func ready(_ index: Int, _ readiness: Readiness) {
    if connections[index].isClosed { return }
    if readiness.contains(.writable), connections[index].waitsToWrite { markDirty(index) }
    guard connections[index].isOpen else {
      if case .none = connections[index].phase { return }
      goOn(index, readiness)
      return connectMore()
    }
    if readiness.isDisjoint(with: [.readable, .closed, .failed]) { return }
    read(index)
  }

  private mutating func read(_ index: Int) {
    let kept = connections[index].cut.restore(into: &buffer, before: Self.readStart)
    switch Self.receive(from: connections[index], into: &buffer) {
    case .bytes(let count):
      if let failure = connections[index].failure { return lose(index, "\(failure)") }
      if connections[index].tls?.hasBacklog == true { markDirty(index) }
      bytes &+= count
      reads &+= 1
      take(index, Self.readStart - kept..<Self.readStart + count)
    case .wouldBlock: break
    case .end: lose(index, "the server closed the connection without a close frame")
    case .failed(let error): lose(index, "\(error)")
    }
  }

  /// Handles the bytes that arrived after the prelude.
  mutating func take(_ rest: [UInt8], _ index: Int) {
    for start in stride(from: 0, to: rest.count, by: Self.readBytes) {
      let part = rest[start..<min(start + Self.readBytes, rest.count)]
      let kept = connections[index].cut.restore(into: &buffer, before: Self.readStart)
      for place in part.indices { buffer[Self.readStart + place - start] = rest[place] }
      take(index, Self.readStart - kept..<Self.readStart + part.count)
    }
  }

  /// Handles the bytes in the buffer.
  private mutating func take(_ index: Int, _ range: Range<Int>) {
    let deliveries = reader.tally.deliveries
    let acks = reader.tally.acks
    let errors = reader.tally.errors
    Self.scan(buffer, range, &reader, &connections[index].cut)
    if !reader.samples.isEmpty { record() }
    let refused = reader.tally.errors &- errors
    let answers = reader.tally.acks &- acks &+ refused
    if refused > 0, senderOf[index] >= 0 {
      due &-= refused &* rooms[connections[index].room].members
    }
    if answers > 0 { answered(index, answers) }
    // A refused message is not delivered, so another one is sent in its place.
    var released = senderOf[index] >= 0 ? refused : 0
    switch plan.release {
    case .delivery where connections[index].isWatcher:
      released &+= reader.tally.deliveries &- deliveries
    case .ack where senderOf[index] >= 0: released &+= reader.tally.acks &- acks
    default: break
    }
    if released > 0 { release(index, released) }
    if !reader.pings.isEmpty || reader.end != nil || reader.refusal != nil { notice(index, range) }
    reader.clear()
  }

  static func receive(from connection: RawConnection, into buffer: inout [UInt8]) -> ReadResult {
    var whole = buffer.mutableSpan
    var span = whole._mutatingExtracting(readStart..<whole.count)
    return connection.read(into: &span)
  }

  /// A separate function: a span of one property would prevent changes of the others.
  private static func scan(
    _ buffer: [UInt8], _ range: Range<Int>, _ reader: inout RawReader, _ cut: inout FrameCut
  ) {
    reader.read(buffer.span.extracting(range), &cut)
  }

  private mutating func record() {
    guard stage == .measuring else { return }
    let now = Instant.now().nanoseconds
    for time in reader.samples { result.latencies.record(.deliver, intended: time, happened: now) }
  }

  private mutating func answered(_ index: Int, _ count: Int) {
    guard senderOf[index] >= 0 else { return }
    let sender = Int(senderOf[index])
    let now = Instant.now().nanoseconds
    for _ in 0..<count {
      guard let time = senders[sender].answered(), stage == .measuring else { continue }
      result.latencies.record(.ack, intended: time, happened: now)
    }
  }

  private mutating func notice(_ index: Int, _ range: Range<Int>) {
    var place = 0
    while place < reader.pings.count {
      let end = place + 1 + Int(reader.pings[place])
      connections[index].output += RawFrame.masked(
        Array(reader.pings[place + 1..<end]), .pong, key: random.maskKey())
      markDirty(index)
      place = end
    }
    if let refusal = reader.refusal {
      let start = range.lowerBound + refusal.lowerBound
      let words = buffer[start..<range.lowerBound + refusal.upperBound].prefix(200)
      result.lastError = String(decoding: words, as: UTF8.self)
    }
    if let end = reader.end { lose(index, end) }
  }

  private mutating func lose(_ index: Int, _ reason: String) {
    if stage != .over {
      lost += 1
      result.lastError = reason
    }
    close(index)
  }

  // MARK: Sending

  /// Handles the completion of messages in the connection's room by sending the next ones.
  private mutating func release(_ index: Int, _ count: Int) {
    guard isSending, case .window = pace else { return }
    let now = Instant.now().nanoseconds
    for _ in 0..<count { publish(in: connections[index].room, at: now) }
  }

  var pace: RawLoad.Pace {
    if case .publish(let pace) = plan.work { pace } else { .window(Self.fillWindow) }
  }

  mutating func publish(in room: Int, at time: UInt64) {
    guard rooms[room].left > 0, !rooms[room].senders.isEmpty else { return }
    rooms[room].left -= 1
    let sender = rooms[room].takeTurn()
    let connection = senders[sender].connection
    guard connections[connection].isOpen else { return }
    sends &+= 1
    due &+= rooms[room].members
    if plan.dialect.ackPrefix != nil { senders[sender].times.append(time) }
    senders[sender].frame.append(at: time, to: &connections[connection].output)
    markDirty(connection)
  }

  /// Sends the messages that are due at the configured rate.
  mutating func publishDue() {
    guard isSending, case .rate(let rate) = pace else { return }
    let step = 1e9 / rate
    let now = Instant.now()
    var due = paceStart.adding(nanoseconds: UInt64(Double(paced) * step))
    while due <= now {
      publish(in: speaking[paced % speaking.count], at: due.nanoseconds)
      paced += 1
      due = paceStart.adding(nanoseconds: UInt64(Double(paced) * step))
    }
    loop.schedule(at: due, token: Token.send)
  }

  mutating func markDirty(_ index: Int) {
    if connections[index].isDirty { return }
    connections[index].isDirty = true
    dirty.append(index)
  }

  /// Sends pending output: one send(2) for each connection that has some.
  mutating func flush() {
    if dirty.isEmpty { return }
    for place in dirty.indices { flush(dirty[place]) }
    dirty.removeAll(keepingCapacity: true)
  }

  private mutating func flush(_ index: Int) {
    connections[index].isDirty = false
    guard !connections[index].isClosed, let registration = connections[index].registration,
      connections[index].hasOutput
    else { return }
    switch connections[index].sendOutput() {
    case .sent(let count) where count == connections[index].output.count:
      let isSender = senderOf[index] >= 0
      connections[index].output.removeAll(keepingCapacity: isSender)
    case .sent(let count): connections[index].output.removeFirst(count)
    case .wouldBlock: break
    case .failed(let error): return lose(index, "\(error)")
    }
    let waits = connections[index].hasOutput && !connections[index].isShakingHands
    guard waits != connections[index].waitsToWrite else { return }
    connections[index].waitsToWrite = waits
    do {
      try loop.change(registration, for: waits ? [.readable, .writable] : .readable)
    } catch {
      lose(index, "\(error)")
    }
  }
}
