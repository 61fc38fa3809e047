internal import Relay
internal import SQLiteLog

/// The faults of a run.
extension Simulation {
  /// Injects a fault, if one is allowed, and schedules the next one.
  func makeTrouble() {
    guard !isRepaired else { return }
    schedule(.fault, in: pick(1...scenario.faultPauseMilliseconds * 2))
    guard let fault = scenario.faults.randomElement(using: &random) else { return }
    trace("fault \(fault)")
    switch fault {
    case .kill: die(losingPower: false)
    case .losePower: die(losingPower: true)
    case .dieAtCall:
      if chance(50) {
        disk.callsUntilDeath = Int.random(in: 0...60, using: &random)
      } else {
        disk.syncsUntilDeath = Int.random(in: 0...5, using: &random)
      }
      nextDeathIsPowerLoss = scenario.faults.contains(.losePower) && chance(60)
    case .shutDown:
      guard let relay, !relay.isShuttingDown else { return }
      referee.tally.count(.shutDown)
      relay.beginShutdown()
      schedule(.shutdownDue(life: life), in: Self.shutdownMilliseconds)
      for loop in relay.loopIndices { wake(loop: loop, in: 0) }
    case .cutConnection: cut()
    case .halfOpen: cut(isHalfOpen: true)
    case .stopReading: stopReading()
    case .jumpClock: jumpClock()
    case .fillDisk:
      disk.trouble.isFull = true
      schedule(.repair(.disk), in: pick(50...3000))
    case .failWrites: failDisk { $0.failingWrites = Int.random(in: 50...3000, using: &random) }
    case .failSyncs: failDisk { $0.failingSyncs = Int.random(in: 300...6000, using: &random) }
    case .failReads:
      referee.readsMayFail = true
      failDisk { $0.failingReads = Int.random(in: 50...3000, using: &random) }
    case .stallLoop:
      referee.tally.count(.loopStalled)
      let loop = Int.random(in: 0..<scenario.loops, using: &random)
      loopTurns[loop] = nil
      let stall = pick(100...3000)
      disturb(for: stall)
      wake(loop: loop, in: stall)
    case .stallLog: break
    case .sleep: sleep()
    case .ban: ban()
    case .backUp: backUp()
    case .restore: restore()
    case .wipe:
      guard relay != nil else { return }
      die(losingPower: false)
      referee.tally.count(.storeWiped)
      disk.remove { _ in true }
      referee.ledger = Ledger()
      referee.files.recordSetback()
      mayHaveLost = false
      inDoubt = []
      backups = []
      forgetWhatIsOnItsWay()
    }
  }

  private func failDisk(_ change: (inout SimulatedDisk.Trouble) -> Void) {
    change(&disk.trouble)
    schedule(.repair(.disk), in: pick(50...2000))
  }

  func repair(_ repair: Repair) {
    switch repair {
    case .disk: disk.trouble = .init()
    case .ban: setBanned([])
    case .reader(let index):
      clients[index].end?.isStopped = false
      wake(client: index, in: 0)
    }
  }

  /// The limit for a shutdown: the relay's `drainSeconds`, and the longest stalls of a loop and of
  /// the log.
  static let shutdownMilliseconds: Int64 = 16_000

  // MARK: - Bans

  /// Bans an adversary for a while.
  private func ban() {
    guard
      let user = clients.map(\.user).filter({ $0.hasPrefix("mallory") }).randomElement(
        using: &random)
    else { return }
    referee.tally.count(.banned)
    setBanned([user])
    schedule(.repair(.ban), in: pick(200...3000))
  }

  private func setBanned(_ users: Set<String>) {
    banned = users
    guard let relay else { return }
    relay.ban(users)
    for loop in relay.loopIndices { wake(loop: loop, in: 0) }
  }

  // MARK: - Network

  private func cut(isHalfOpen: Bool = false) {
    // Adversaries connect and disconnect by themselves.
    let honest = links.filter { $0.kind == .honest }
    guard let link = honest.randomElement(using: &random) else { return }
    let bytes = (link.toRelay.bytesOnTheirWay, link.toClient.bytesOnTheirWay)
    if bytes.0 + bytes.1 > 0 { referee.tally.count(.bytesCut) }
    let believer = isHalfOpen ? Int.random(in: 0...1, using: &random) : -1
    if isHalfOpen { referee.tally.count(.halfOpen) }
    trace("cut \(link.number)")
    link.toRelay.cut(
      keepingBytes: Int.random(in: 0...bytes.0, using: &random),
      at: believer == 0 ? nil : now.monotonic + pick(0...50))
    link.toClient.cut(
      keepingBytes: Int.random(in: 0...bytes.1, using: &random),
      at: believer == 1 ? nil : now.monotonic + pick(0...50))
    links.removeAll { $0 === link }
    scheduleArrival(link)
  }

  private func stopReading() {
    let index = Int.random(in: 0..<scenario.sessions + scenario.probes, using: &random)
    guard let end = clients[index].end, !end.isStopped else { return }
    referee.tally.count(.readerStopped)
    end.isStopped = true
    schedule(.repair(.reader(index)), in: pick(100...8000))
  }

  /// Stops the relay and all clients for a while. No connection ends for the silence of that time:
  /// nothing was silent longer when the relay runs again.
  private func sleep() {
    guard let relay, !relay.isShuttingDown else { return }
    sweep(relay)
    let timeouts = relay.timeouts
    let milliseconds = pick(2000...200_000)
    referee.tally.count(.slept)
    disturb(for: milliseconds)
    sleep(milliseconds: milliseconds)
    sweep(relay)
    if relay.timeouts > timeouts {
      referee.fault("a connection ended for the time in which the relay did not run")
    }
  }

  private func sweep(_ relay: RelayProcess) {
    for loop in relay.loopIndices {
      sweepIsDue[loop] = true
      turn(loop)
    }
  }

  private func jumpClock() {
    let jump = pick(1...3_600_000)
    if chance(50) {
      referee.tally.count(.clockForward)
      now.wall += jump
    } else {
      referee.tally.count(.clockBack)
      now.wall -= jump
    }
  }

  // MARK: - Backups

  private func backUp() {
    // Refused entries may be in the files until the next successful commit: see README.
    guard scenario.store == .sqlite, relay != nil, refusedSinceCommit.isEmpty,
      referee.ledger.blocks.refused.isEmpty
    else { return }
    referee.tally.count(.backupTaken)
    backups.append(
      Backup(
        files: disk.snapshot(), ledger: referee.ledger, inDoubt: refusedSinceCommit,
        unstoredEpoch: relay?.log.unstoredEpoch))
    if backups.count > 3 { backups.removeFirst() }
  }

  /// Stops the relay and restores an older state of the files, as an operator would.
  private func restore() {
    guard relay != nil, let backup = backups.randomElement(using: &random) else { return }
    die(losingPower: false)
    referee.tally.count(.backupRestored)
    // Some forget the index, and some bring back that of another day.
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      referee.tally.count(.indexRestored)
      disk.restore(backup.files) { !$0.contains("index.db") }
    case 1:
      referee.tally.count(.indexRestored)
      disk.restore(backup.files)
      disk.remove { $0.contains("index.db") }
    default: disk.restore(backup.files)
    }
    referee.ledger = backup.ledger
    referee.files.recordSetback()
    mayHaveLost = false
    inDoubt = backup.inDoubt
    unstoredEpoch = backup.unstoredEpoch
    forgetWhatIsOnItsWay()
  }

  /// Discards messages in flight that describe another state of the log: they would be checked
  /// against this one.
  func forgetWhatIsOnItsWay() {
    for client in clients {
      guard let link = client.link, relay == nil || link.life < life else { continue }
      link.toClient.silence()
    }
  }
}
