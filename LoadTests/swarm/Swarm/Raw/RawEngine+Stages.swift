internal import EventLoop
internal import Platform

/// The sequence of stages.
extension RawEngine {
  mutating func timerFired(_ token: UInt64) {
    switch token {
    case Token.send: publishDue()
    case Token.stage: stageIsOver()
    default: look()
    }
  }

  mutating func everybodyIsThere() {
    before = counts
    switch plan.work {
    case .connect:
      conclude()
      note(.ready)
      note(.measured)
      finish()
    case .idle:
      note(.ready)
      measure()
      after(plan.seconds)
    case .publish:
      note(.ready)
      stage = .warmingUp
      startLoad()
      if plan.warmUpSeconds > 0 { after(plan.warmUpSeconds) } else { stageIsOver() }
    case .resume(let messages):
      stage = .filling
      for room in rooms.indices { rooms[room].left = messages }
      awaited = messages * rooms.count
      startLoad()
    }
  }

  private func after(_ seconds: Double) {
    guard seconds.isFinite else { return }
    loop.schedule(at: Instant.now().adding(nanoseconds: UInt64(seconds * 1e9)), token: Token.stage)
  }

  private mutating func startLoad() {
    isSending = true
    progress = (-1, .now())
    switch pace {
    case .window(let window):
      let now = Instant.now().nanoseconds
      for room in rooms.indices {
        for _ in 0..<window { publish(in: room, at: now) }
      }
    case .rate:
      paceStart = .now()
      paced = 0
      publishDue()
    }
  }

  private mutating func measure() {
    stage = .measuring
    note(.measuring)
    measuredFrom = counts
    measuringSince = .now()
  }

  mutating func conclude() {
    result.seconds = Double(Instant.now().nanoseconds(since: measuringSince)) / 1e9
    result.counts = counts - measuredFrom
  }

  private mutating func stageIsOver() {
    switch stage {
    case .warmingUp:
      measure()
      after(plan.seconds)
    case .measuring:
      conclude()
      note(.measured)
      isSending = false
      stage = .draining
      progress = (-1, .now())
    default: break
    }
  }

  /// The number of deliveries that should have arrived since the load began.
  private var expected: Int {
    switch plan.work {
    case .connect, .idle: return 0
    case .publish: return due
    case .resume(let messages): return messages * plan.connections
    }
  }

  private mutating func look() {
    if stage == .over { return }
    loop.schedule(afterMilliseconds: Self.lookMilliseconds, token: Token.look)
    let now = Instant.now()
    let come = reader.tally.deliveries + memberCount
    if come != progress.count { progress = (come, now) }
    let isStuck = now.milliseconds(since: progress.at) >= plan.patienceMilliseconds
    switch stage {
    case .connecting where isStuck:
      fail(
        "\(url): only \(memberCount) of \(connections.count) connections became members, and"
          + " nothing was received for \(plan.patienceMilliseconds) ms")
    case .filling:
      if reader.tally.deliveries - before.deliveries >= awaited { return comeBack() }
      let why = result.lastError.map { ": \($0)" } ?? ""
      if isStuck || lost > 0 { fail("\(url): the rooms could not be filled\(why)") }
    case .measuring:
      guard case .resume = plan.work else { return }
      if reader.tally.deliveries - before.deliveries >= expected || isStuck {
        conclude()
        note(.measured)
        finish()
      }
    case .draining:
      if reader.tally.deliveries - before.deliveries >= expected || isStuck { finish() }
    default: break
    }
  }

  /// Lets all members return, now that the rooms are full.
  private mutating func comeBack() {
    isSending = false
    for index in plan.connections..<connections.count { close(index) }
    note(.ready)
    before = counts
    measure()
    for index in 0..<plan.connections {
      for text in plan.dialect.resume { send(text, from: index) }
    }
    progress = (-1, .now())
  }

  mutating func finish() {
    result.whole = counts - before
    result.missing = expected - (reader.tally.deliveries - before.deliveries)
    result.connectionsLost = lost
    note(.drained)
    stage = .over
    loop.stop()
  }
}
