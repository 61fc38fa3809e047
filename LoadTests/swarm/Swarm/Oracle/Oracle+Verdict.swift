extension Oracle {
  /// The result: the numbers of sends by outcome, and whether every promise was kept.
  public struct Verdict: Equatable, Sendable {
    /// The sends that were passed to a client.
    public var sends = 0
    /// The sends that were acknowledged.
    public var acknowledged = 0
    /// Refused for good.
    public var refused = 0
    /// Transmitted, neither acknowledged nor refused, and in the log.
    public var unknownStored = 0
    /// Transmitted, neither acknowledged nor refused, and not in the log.
    public var unknownAbsent = 0
    /// Acknowledged, and lost in a fork of the log.
    public var lostInForks = 0
    /// Passed to a client that never had a connection to send them.
    public var missed = 0
    /// Rooms that could not be read after the run.
    public var unreadRooms: [String] = []
    /// The digest of each room's log.
    public var digests: [String: UInt64] = [:]
  }

  /// Records that the fresh reader has read a room to its end.
  public mutating func readBack(room: Int, upTo head: Int64) {
    ledgers[room].readBack = head
  }

  /// Compares everything that was acknowledged and delivered with the final log.
  public mutating func finish() -> Verdict {
    var verdict = Verdict()
    for receiver in cursors.indices { disconnected(receiver) }
    for room in ledgers.indices { finish(room, &verdict) }
    for client in sends.indices {
      for (index, send) in sends[client].enumerated() {
        finish(.init(client: client, number: index + 1), send, &verdict)
      }
    }
    return verdict
  }

  private mutating func finish(_ room: Int, _ verdict: inout Verdict) {
    let name = naming.rooms[room]
    if mayFork, ledgers[room].readBack != nil { settleForks(of: room) }
    let ledger = ledgers[room]
    verdict.digests[name] = ledger.digest
    guard let end = ledger.readBack else {
      verdict.unreadRooms.append(name)
      return
    }
    if ledger.head > end {
      report(
        .forgotten, name, [end + 1, ledger.head],
        "entries up to \(ledger.head) were delivered, but the log ends at \(end)",
        context(of: room, around: end + 1))
    }
    var lastNumbers: [Int32: (number: Int32, seq: Int64)] = [:]
    var lastTime: (at: Int64, seq: Int64)?
    for (index, slot) in ledger.slots.enumerated() {
      guard let slot else { continue }
      let seq = Int64(index) + 1
      if let last = lastNumbers[slot.client], last.number > slot.number {
        report(
          .reordered, name, [last.seq, seq],
          "\(naming.users[Int(slot.client)]) sent #\(slot.number) before #\(last.number)",
          context(of: room, around: seq))
      }
      lastNumbers[slot.client] = (slot.number, seq)
      if let lastTime, lastTime.at > slot.at {
        report(
          .clock, name, [lastTime.seq, seq],
          "the first has at \(lastTime.at), the second \(slot.at)")
      }
      lastTime = (slot.at, seq)
    }
  }

  private mutating func finish(_ id: Naming.SendID, _ send: Send, _ verdict: inout Verdict) {
    verdict.sends += 1
    let room = naming.rooms[send.room]
    let ledger = ledgers[send.room]
    guard let seq = send.seq else {
      if send.isRefused {
        verdict.refused += 1
      } else if !send.isTransmitted {
        verdict.missed += 1
      } else if send.deliveredAs != nil {
        verdict.unknownStored += 1
      } else {
        verdict.unknownAbsent += 1
      }
      return
    }
    verdict.acknowledged += 1
    // A room that could not be read, and entries that the relay may delete, prove nothing.
    guard ledger.readBack != nil, seq >= ledger.first else { return }
    if let slot = ledger[seq], slot.send == id { return }
    if forksTold > 0, send.intended < lastFork {
      // It may have been repeated, or not.
      if send.deliveredAs == nil { verdict.lostInForks += 1 }
      return
    }
    if let delivered = send.deliveredAs {
      report(
        .misnumbered, room, [seq, delivered],
        "the ack of \(naming.id(of: id)) names \(seq), but its seq is \(delivered)",
        context(of: send.room, around: seq))
    } else {
      report(
        .lost, room, [seq], "\(naming.id(of: id)) was acknowledged, but delivered to no client",
        context(of: send.room, around: seq))
    }
  }
}
