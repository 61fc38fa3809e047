internal import Gateway
internal import Relay
internal import SQLiteLog
internal import ShardWorld
internal import Wire

/// The relay's process: its start, its turns, and the work of its log.
extension Simulation {
  func start() {
    guard relay == nil else { return }
    life += 1
    let epoch = "epoch-\(life)"
    guard let (log, files) = open(epoch) else {
      referee.tally.count(.startFailed)
      trace("start \(life) fails")
      if disk.isDead { resolveDeath() }
      schedule(.start, in: pick(20...500))
      return
    }
    referee.tally.count(.started)
    trace("start \(life)")
    examine(log)
    referee.ledger.begin(epoch: epoch)
    var configuration = scenario.relay
    configuration.files = fileSettings
    let relay = RelayProcess(
      life: life, log: log, files: files, loops: scenario.loops, seed: random.next(), now: now,
      configuration)
    relay.onReceive = { [unowned referee] link, message in
      if case .send = message { referee.recordTaken(link.number) }
    }
    relay.onWait = { [unowned self] since, purpose in recordWait(since: since, purpose) }
    for loop in relay.loopIndices { connect(relay.streams(of: loop)) }
    // The relay notices a clock that is set forward within a minute, which is longer than a run.
    let clockJumps = scenario.faults.contains(.jumpClock)
    relay.onServed = { [unowned referee] user, exclusion in
      if clockJumps, exclusion == .expiry { return }
      referee.fault("a message of \(user) is accepted after the \(exclusion)")
    }
    relay.ban(banned)
    self.relay = relay
    loopTurns = Array(repeating: nil, count: scenario.loops)
    loopIsBusyUntil = Array(repeating: 0, count: scenario.loops)
    sweepIsDue = Array(repeating: false, count: scenario.loops)
    lookupsToRetry = 0
    publishPeople()
    schedule(.sweep(life: life), in: Int64(ConnectionLoop.sweepMilliseconds))
    schedule(.background(life: life), in: pick(0...500))
    if files != nil { schedule(.fileTidying(life: life), in: 0) }
  }

  private func open(_ epoch: String) -> (any SimulatedLog, SimulatedFiles?)? {
    guard let log = openLog(epoch) else { return nil }
    let files = openFiles()
    return disk.isDead ? nil : (log, files)
  }

  /// Connects a loop's streams to the simulation.
  private func connect(_ streams: SimulatedStreams) {
    streams.onPause = { [unowned referee] link, isPaused in
      referee.pause(link.number, isPaused: isPaused)
    }
    streams.readLimit = { [unowned self] in
      chance(70) ? ConnectionLoop.readBytes : Int.random(in: 1...300, using: &random)
    }
    streams.send = { [unowned self] link, bytes in
      var copy: [UInt8] = []
      for index in 0..<bytes.count { copy.append(bytes[index]) }
      let taken = link.toClient.send(
        copy[...], now: now.monotonic, maximumDelay: scenario.maximumDelay, using: &random)
      if taken < copy.count { referee.tally.count(.socketBlocked) }
      scheduleArrival(link)
      return taken
    }
    streams.onEnd = { [unowned self] link in scheduleArrival(link) }
  }

  private func openLog(_ epoch: String) -> (any SimulatedLog)? {
    switch scenario.store {
    case .cluster: preconditionFailure("ClusterSimulation runs clusters")
    case .memory:
      referee.ledger = Ledger()
      referee.files.recordSetback()
      forgetWhatIsOnItsWay()
      return SimulatedMemoryLog(
        epoch: epoch, keepEntriesPerRoom: scenario.keepEntriesPerRoom, limits: scenario.entryLimits,
        loops: scenario.loops)
    case .sqlite:
      do {
        let log = try SimulatedSQLiteLog(
          fileSystem: fileSystem.name, durability: scenario.durability, epoch: epoch,
          keepEntriesPerRoom: scenario.keepEntriesPerRoom, limits: scenario.entryLimits,
          segmentEntries: scenario.segmentEntries, loops: scenario.loops, now: now.wall,
          tally: { [unowned referee] in referee.tally.count($0, $1) }
        ) { [unowned self] in
          if disk.isDead { return }
          referee.tally.count(.endedUnsynced)
          trace("a checkpoint was not synced: the process exits")
          disk.die()
        }
        if let reason = log.discardedIndex {
          referee.tally.count(.indexDiscarded)
          trace("the index is rebuilt: \(reason)")
        }
        return disk.isDead ? nil : log
      } catch {
        if error.kind == .broken { referee.fault("the store is broken: \(error)") }
        trace("\(error)")
        return nil
      }
    }
  }

  // MARK: - Turns

  func turn(_ loop: Int) {
    guard let relay else { return }
    let timeouts = relay.timeouts
    relay.turn(loop, now: now, sweeps: sweepIsDue[loop])
    sweepIsDue[loop] = false
    referee.tally.count(.relayTimedOut, relay.timeouts - timeouts)
    if relay.mostQueuedBytes > scenario.relay.shard.limits.queueBytes + 41_000 {
      referee.fault("\(relay.mostQueuedBytes) bytes are queued for one client")
    }
    if !relay.scansTwice { referee.fault("heads of requests are scanned again and again") }
    let limits = scenario.relay.shard.limits
    if relay.mostWaitingKeys > limits.waitingKeys + limits.waitingPresenceKeys {
      referee.fault("\(relay.mostWaitingKeys) ephemeral messages wait for one client")
    }
    if !relay.submitted.isEmpty, !relay.isCommitting {
      relay.isCommitting = true
      schedule(.commit(life: life), in: pick(0...1))
    }
    scheduleRead()
    scheduleFiles()
    scheduleVerifications()
    loopIsBusyUntil[loop] = now.monotonic + relay.work(of: loop).milliseconds
    for loop in relay.loopIndices {
      if relay.hasEvent(loop, now: now) {
        wake(loop: loop, in: pick(0...2))
      } else if let deadline = relay.deadline(of: loop) {
        wake(loop: loop, in: deadline - now.monotonic)
      }
    }
    if relay.hasShutDown { endShutdown() }
  }

  // MARK: - Commits

  /// Does the work of the log's thread for all submitted batches. The loops get the outcome later.
  func commit() {
    guard let relay else { return }
    var batches = relay.submitted
    relay.submitted = []
    if !batches.isEmpty {
      batches[0].requests += orders
      orders = []
    }
    inDoubt = identities(in: batches)
    referee.ledger.blocks.inDoubt = Set(blocks(in: batches))
    redactedEdits = relay.log.redactedEdits
    let outcome = relay.log.process(batches, now: now.wall)
    var work = relay.log.writing.take()
    work.bytes += outcome.commit?.frames.bytes.count ?? 0
    if !disk.isDead { check(work, of: batches, outcome) }
    if disk.isDead {
      trace("death within a commit")
      die()
      return
    }
    if let failure = outcome.failure {
      referee.tally.count(.batchRefused)
      trace("refused: \(failure)")
      refusedSinceCommit.formUnion(inDoubt)
      referee.ledger.blocks.refused.formUnion(referee.ledger.blocks.inDoubt)
    } else if outcome.commit?.spans.isEmpty == false {
      refusedSinceCommit = []
      referee.ledger.blocks.refused = []
    }
    inDoubt = []
    referee.ledger.blocks.inDoubt = []
    // The batch is durable from here on, whether or not a client has been told.
    if let commit = outcome.commit { observe(commit, of: batches.flatMap(\.requests)) }
    let isStalled = scenario.faults.contains(.stallLog) && chance(3)
    if isStalled { referee.tally.count(.logStalled) }
    let took = work.milliseconds + (isStalled ? pick(100...2500) : pick(0...3))
    if isStalled { disturb(for: took) }
    schedule(
      .published(life: life, outcome, submitters: Set(batches.map(\.loop))), in: took)
  }

  private func blocks(in batches: [(loop: Int, requests: [LogRequest])]) -> [Blocks.Pair] {
    batches.flatMap(\.requests).compactMap {
      if case .block(let block) = $0 { Blocks.Pair(block) } else { nil }
    }
  }

  private func identities(
    in batches: [(loop: Int, requests: [LogRequest])]
  ) -> Set<Ledger.Identity> {
    var identities: Set<Ledger.Identity> = []
    for (_, requests) in batches {
      for case .append(let append) in requests {
        identities.insert(.init(room: append.room, user: append.user, id: append.id))
      }
    }
    return identities
  }

  private func observe(_ commit: Commit, of requests: [LogRequest]) {
    if !commit.spans.isEmpty { referee.tally.count(.commitPublished) }
    let places = placesOfFiles(in: commit)
    var named: [Entry] = []
    referee.ledger.beginCommit()
    for span in commit.spans where Self.isWatched(span.room) {
      for index in span.frames {
        let json = Array(commit.frames.payload(index))
        guard let entry = try? Entry(decoding: json.span) else {
          referee.fault("a commit of an invalid entry: \(String(decoding: json, as: UTF8.self))")
          return
        }
        trace("durable \(entry.room) \(entry.seq): \(entry.id)")
        if !referee.wasSent(entry) {
          referee.fault(
            "\(entry.room) \(entry.seq) differs from what was sent: \(entry.from) \(entry.id) "
              + String(decoding: entry.body, as: UTF8.self))
        }
        referee.ledger.record(
          entry,
          isHidden: referee.ledger.blocks.hides(
            entry, changes: commit.blocks, requests: requests))
        if let fault = referee.ledger.append(entry, now: now.monotonic) { referee.fault(fault) }
        referee.tally.count(entry)
        if entry.kind == .file, !entry.isDeleted { named.append(entry) }
        if entry.kind == .delete, let target = entry.target,
          referee.ledger.entry(entry.room, target)?.deletedBy != nil
        {
          referee.tally.count(.deletedByOthers)
        }
      }
      if referee.ledger.trim(span.room, to: span.firstKept) { referee.tally.count(.trimmed) }
    }
    for change in commit.blocks {
      let pair = Blocks.Pair(change.user, blocked: change.blocked)
      trace("durable block of \(pair): \(change.at != nil)")
      apply(pair, on: change.at != nil)
    }
    referee.checkForwards()
    checkNamed(named, places)
    for place in referee.ledger.bare {
      referee.fault("\(place) is empty, but no delete refers to it")
    }
  }

  func publish(_ outcome: Sequencer.Outcome, _ submitters: Set<Int>) {
    guard let relay else { return }
    for (loop, delivery) in outcome.deliveries(completing: submitters) {
      relay.post(.log(delivery), to: loop)
      wake(loop: loop, in: pick(0...1))
    }
    if relay.submitted.isEmpty {
      relay.isCommitting = false
    } else {
      schedule(.commit(life: life), in: 0)
    }
  }

  // MARK: - Reads and other work

  private func scheduleRead() {
    guard let relay, !relay.isReading, !relay.reads.isEmpty else { return }
    relay.isReading = true
    schedule(.read(life: life), in: pick(0...5))
  }

  /// Does the work of the reading thread for one request.
  func read() {
    guard let relay, !relay.reads.isEmpty else { return }
    let (loop, request, askedAt) = relay.reads.removeFirst()
    let (answer, work) = answer(request, relay)
    if disk.isDead {
      die()
      return
    }
    schedule(
      .answered(life: life, loop: loop, answer, request.session, askedAt: askedAt),
      in: work.milliseconds + pick(0...3))
  }

  /// Returns the answer of the reading thread to a request, and its work.
  private func answer(_ request: ReadRequest, _ relay: RelayProcess) -> (LogAnswer, Work) {
    let answer = relay.log.answer(request)
    var work = relay.log.reading.take()
    if case .reply(_, let json) = answer { work.bytes += json.count }
    if !disk.isDead { check(work, of: request, answer) }
    return (answer, work)
  }

  func deliver(_ answer: LogAnswer, to loop: Int, _ session: SessionID?, askedAt: Int64) {
    guard let relay else { return }
    if let session, relay.isHonest(session, loop) { recordWait(since: askedAt, "for a read") }
    relay.post(
      .log(LogDelivery(commit: nil, answers: [answer], completesSubmit: false)), to: loop)
    wake(loop: loop, in: 0)
    relay.isReading = false
    scheduleRead()
  }

  /// Lets each token that is not known take its time: another thread looks it up, or another service.
  private func scheduleVerifications() {
    guard let relay else { return }
    for (loop, token, asker) in relay.verifications {
      schedule(
        .verified(life: life, loop: loop, token: token, asker),
        in: chance(90) ? pick(0...20) : pick(100...2000))
    }
    relay.verifications = []
  }

  func verify(_ token: String, for asker: VerificationAsker, _ loop: Int) {
    guard let relay else { return }
    referee.tally.count(.verifiedLater)
    if chance(50) { relay.knownTokens.insert(token) }
    if chance(10) { relay.knownTokens.forget() }
    let result = Result { () throws(WireError) in
      try SimulatedToken.verify(token, wall: now.wall)
    }
    relay.post(.verified(result, asker), to: loop)
    wake(loop: loop, in: 0)
  }

  func takeBackgroundStep() {
    guard let relay else { return }
    let steps = relay.log.backgroundSteps + relay.log.writerSteps
    if let step = steps.randomElement(using: &random) {
      referee.tally.count(.backgroundStep)
      trace("background")
      isInBackgroundStep = true
      step()
      isInBackgroundStep = false
      if disk.isDead {
        die()
        return
      }
    }
    schedule(.background(life: life), in: pick(0...800))
  }

  /// Gives another thread a turn during a call of SQLite.
  func interlude() {
    guard let relay, !isReadingBack, chance(2) else { return }
    if !isInBackgroundStep, chance(20),
      let step = relay.log.backgroundSteps.randomElement(using: &random)
    {
      trace("background, within")
      referee.tally.count(.backgroundStep)
      step()
      return
    }
    guard relay.isReading, !relay.reads.isEmpty else { return }
    referee.tally.count(.interlude)
    let (loop, request, askedAt) = relay.reads.removeFirst()
    let (answer, work) = answer(request, relay)
    if disk.isDead { return }
    schedule(
      .answered(life: life, loop: loop, answer, request.session, askedAt: askedAt),
      in: work.milliseconds + pick(0...3))
  }
}
