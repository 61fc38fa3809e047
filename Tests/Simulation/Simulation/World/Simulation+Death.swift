internal import Relay
internal import SQLiteLog
internal import Wire

/// The end of the relay's process, and the check of the files that it leaves.
extension Simulation {
  /// Ends the process immediately.
  func die(losingPower: Bool? = nil) {
    guard relay != nil else { return }
    if let losingPower { nextDeathIsPowerLoss = losingPower }
    if relay?.isCommitting == true, inDoubt.isEmpty { referee.tally.count(.deathBeforePublish) }
    disk.die()
    sever(systemLivesOn: !nextDeathIsPowerLoss)
    unstoredEpoch = relay?.log.unstoredEpoch
    relay = nil
    resolveDeath()
    life += 1
    schedule(.start, in: pick(5...2000))
  }

  /// Applies the process's death to its files. No connection has them open any more.
  func resolveDeath() {
    // When SQLite closes, it finds a dead disk, and changes nothing.
    if nextDeathIsPowerLoss {
      referee.tally.count(.powerLost)
      trace("power lost")
      disk.losePower()
      if scenario.durability == .os {
        mayHaveLost = true
        referee.files.recordSetback()
        forgetWhatIsOnItsWay()
      }
    } else {
      referee.tally.count(.killed)
      trace("killed")
      disk.endProcess()
    }
    disk.trouble = .init()
  }

  /// Ends all connections of the process.
  private func sever(systemLivesOn: Bool) {
    for link in links where link.life == life {
      let bytes = link.toClient.bytesOnTheirWay
      if bytes > 0 { referee.tally.count(.bytesCut) }
      // After the death of a process its system still sends the bytes that it accepted; after a
      // loss of power the peer may never learn of it.
      let kept = systemLivesOn && chance(50) ? Int.max : Int.random(in: 0...bytes, using: &random)
      let isSilent = !systemLivesOn && chance(50)
      if isSilent { referee.tally.count(.halfOpen) }
      link.toClient.cut(keepingBytes: kept, at: isSilent ? nil : now.monotonic + pick(0...100))
      scheduleArrival(link)
    }
    links.removeAll { $0.life == life }
  }

  /// Ends the process after a shutdown: all bytes are still sent.
  func endShutdown() {
    trace("shut down")
    for link in links where link.life == life {
      link.toClient.finish(now: now.monotonic)
      scheduleArrival(link)
    }
    links.removeAll { $0.life == life }
    unstoredEpoch = relay?.log.unstoredEpoch
    relay?.files?.finish(now: now.wall)
    if disk.isDead {
      die()
      return
    }
    relay = nil
    disk.endProcess()
    life += 1
    schedule(.start, in: pick(5...1000))
  }

  // MARK: - After a start

  /// Checks the content of the log after a start against the ledger.
  func examine(_ log: any SimulatedLog) {
    let trouble = disk.trouble
    let (calls, syncs) = (disk.callsUntilDeath, disk.syncsUntilDeath)
    disk.trouble = .init()
    disk.callsUntilDeath = nil
    disk.syncsUntilDeath = nil
    isReadingBack = true
    defer {
      disk.trouble = trouble
      disk.callsUntilDeath = calls
      disk.syncsUntilDeath = syncs
      isReadingBack = false
    }
    let contents: [String: StoredLog]
    do {
      contents = try log.contents(of: Self.watchedRooms + [RoomName.reports])
    } catch {
      referee.fault("the store cannot be read after a start: \(error)")
      return
    }
    checkLineage(log.epochs)
    examine(log.blocks)
    referee.ledger.beginCommit()
    for room in Self.watchedRooms {
      examine(contents[room] ?? StoredLog(first: 1, head: 0), of: room)
    }
    examineReports(contents[RoomName.reports]?.entries ?? [])
    referee.checkForwards()
    examineFiles(log)
    if mayHaveLost { referee.ledger.forgetMarks() }
    mayHaveLost = false
    inDoubt = []
    refusedSinceCommit = []
  }

  private func checkLineage(_ epochs: [String]) {
    for epoch in epochs { referee.ledger.remember(epoch: epoch) }
    for epoch in referee.ledger.lineage where !epoch.isEmpty && !epochs.contains(epoch) {
      if mayHaveLost || epoch == unstoredEpoch {
        referee.ledger.forget(epoch: epoch)
      } else {
        referee.fault("the lineage lacks \(epoch)")
      }
    }
  }

  func apply(_ pair: Blocks.Pair, on: Bool) {
    let room = referee.ledger.room(RoomName.direct(pair.user, pair.blocked))
    referee.ledger.blocks.apply(pair, on: on, head: room.head, now: now.monotonic)
  }

  /// Checks that the blocks are those that were acknowledged; those of a batch whose outcome no client knows
  /// may be in force or not.
  private func examine(_ stored: BlockTable) {
    let known = referee.ledger.blocks
    for user in known.users.union(clients.map(\.user)).sorted() {
      let found = Set(stored.users(blockedBy: user))
      for other in found.symmetricDifference(known.blocked(by: user)).sorted() {
        let pair = Blocks.Pair(user, blocked: other)
        if !mayHaveLost, !known.inDoubt.contains(pair), !known.refused.contains(pair) {
          referee.fault("after a start, the block of \(pair) is \(found.contains(other))")
        }
        apply(pair, on: found.contains(other))
      }
    }
    (referee.ledger.blocks.inDoubt, referee.ledger.blocks.refused) = ([], [])
  }

  /// Checks that no copy of a reported entry outlives it, or has what the user may not see.
  private func examineReports(_ entries: [Entry]) {
    for entry in entries {
      guard let report = try? ServerMessage.Report(recorded: entry) else {
        referee.fault("\(entry.room) \(entry.seq) is no report")
        continue
      }
      guard let copy = report.copy, Self.isWatched(report.room) else { continue }
      let place = "the copy of \(report.room) \(report.seq) in a report of \(report.by)"
      if referee.ledger.hides(report.seq, in: report.room, from: report.by) == true {
        referee.fault("\(place) is hidden from the user")
      }
      guard let truth = referee.ledger.entry(report.room, report.seq) else { continue }
      if truth.isDeleted { referee.fault("\(place) outlives its entry") }
      let versions = referee.ledger.versions(
        of: report.seq, in: report.room, shownTo: report.by)
      if !mayHaveLost, let text = copy.text, !versions.contains(text) {
        referee.fault("\(place) has another text: \(text)")
      }
    }
  }

  /// Checks which entries of a direct room are hidden, or learns it.
  private func examineHidden(_ stored: StoredLog, of name: String) {
    for entry in stored.entries {
      guard let peer = RoomName.peer(in: name, of: entry.from) else { continue }
      let isHidden = stored.direct.hidden.contains {
        $0.sender == entry.from && $0.contains(entry.seq)
      }
      let known = referee.ledger.hides(entry.seq, in: name, from: peer)
      if known == isHidden { continue }
      if known != nil, !mayHaveLost, referee.ledger.entry(name, entry.seq) != nil {
        referee.fault("after a start, \(name) \(entry.seq) is hidden: \(isHidden)")
      }
      referee.ledger.record(entry, isHidden: isHidden)
    }
  }

  private func examine(_ stored: StoredLog, of name: String) {
    let known = referee.ledger.room(name)
    if mayHaveLost {
      if stored.first < known.first {
        referee.ledger.forgetTrim(name, stored)
      }
      referee.ledger.cutBack(name, to: stored.head)
    } else {
      if stored.head < known.head {
        referee.fault("\(name) has lost \(stored.head + 1)…\(known.head)")
      }
      if stored.first < known.first {
        referee.fault("\(name) begins at \(stored.first), which was trimmed before")
      }
    }
    if stored.entries.map(\.seq) != Array(stored.first..<stored.head + 1) {
      referee.fault("\(name) \(stored.first)…\(stored.head) has gaps: \(stored.entries.map(\.seq))")
      return
    }
    examineHidden(stored, of: name)
    // A batch whose outcome no client knows may have trimmed its own entries.
    if stored.first > known.head + 1, !inDoubt.isEmpty || !refusedSinceCommit.isEmpty {
      referee.ledger.skip(name, to: stored.first - 1)
    }
    // A deletion whose outcome no client knows has already redacted earlier entries.
    let deleted = Set(
      stored.entries.filter {
        $0.kind == .delete && referee.ledger.entry(name, $0.seq) == nil
      }.compactMap(\.target))
    func isDeleted(_ entry: Entry) -> Bool {
      (entry.isDeleted || entry.text == "")
        && deleted.contains(entry.kind == .edit ? entry.target ?? 0 : entry.seq)
    }
    for entry in stored.entries {
      if let truth = referee.ledger.entry(name, entry.seq) {
        if truth != entry, !isDeleted(entry) {
          referee.fault("\(name) \(entry.seq) is altered after a start")
        }
        continue
      }
      guard entry.seq > known.head || mayHaveLost else { continue }
      let identity = Ledger.Identity(entry)
      if inDoubt.contains(identity) {
        referee.tally.count(.inDoubtKept)
      } else if refusedSinceCommit.contains(identity) {
        referee.tally.count(.refusedKept)
      } else {
        referee.fault("\(name) \(entry.seq) (\(entry.id)) was never sent")
      }
      if !referee.wasSent(entry) {
        referee.fault("\(name) \(entry.seq) differs from what was sent")
      }
      if let fault = referee.ledger.append(entry, now: now.monotonic) {
        referee.fault("after a start, \(fault)")
      }
    }
    if stored.first > referee.ledger.room(name).first {
      // It was trimmed by a batch whose outcome no client knows.
      if inDoubt.isEmpty, refusedSinceCommit.isEmpty, !mayHaveLost {
        referee.fault("\(name) was trimmed to \(stored.first) without a request")
      }
      _ = referee.ledger.trim(name, to: stored.first)
    }
  }
}
