internal import Wire

/// Logs that can lose their last entries: an asynchronous standby that is promoted lacks those that it
/// had not received. Then other entries get their numbers, and every receiver that holds a lost one has
/// to be told.
extension Oracle {
  /// Records an entry, and who holds it.
  mutating func hold(_ slot: RoomLedger.Slot, _ room: Int, _ seq: Int64, _ receiver: Int) {
    let version = ledgers[room].version(of: slot, at: seq)
    held[receiver][room, default: HeldEntries()].append(seq, version: version)
    sends[slot.send.client][slot.send.number - 1].deliveredAs = seq
  }

  /// Records that the log may have forked before this time, in nanoseconds from the start of the run.
  mutating func mayHaveForked(before time: UInt64) { lastFork = time }

  /// Records that a receiver was told of a fork.
  mutating func forked(_ joined: ServerMessage.Joined, _ room: Int) {
    forksTold += 1
    ledgers[room].expected = joined.head
  }

  /// Compares what the receivers hold with the log as the reader has found it, and makes that the
  /// ledger.
  mutating func settleForks(of room: Int) {
    let name = naming.rooms[room]
    let reader = (naming.users.count..<held.count).last { held[$0][room] != nil }
    let log = reader.flatMap { held[$0][room] } ?? HeldEntries()
    for receiver in mustAgree {
      guard let own = held[receiver][room] else { continue }
      let wrong = (max(own.first, log.first)..<max(own.end, log.first)).first { seq in
        seq >= log.end
          || own.versions[Int(seq - own.first)] != log.versions[Int(seq - log.first)]
      }
      guard let wrong else { continue }
      let entry = ledgers[room].entry(wrong, version: own.versions[Int(wrong - own.first)])
      report(
        .untold, name, [wrong],
        "\(self.name(receiver)) holds \(entry.map { naming.id(of: $0.send) } ?? "an entry"), which"
          + " the log has lost, and was not told")
    }
    var entries: [RoomLedger.Slot?] = Array(repeating: nil, count: max(0, Int(log.first) - 1))
    var places: [Naming.SendID: Int64] = [:]
    for (index, version) in log.versions.enumerated() {
      let seq = log.first + Int64(index)
      let slot = ledgers[room].entry(seq, version: version)
      entries.append(slot)
      guard let id = slot?.send else { continue }
      if let other = places.updateValue(seq, forKey: id) {
        report(.doubled, name, [other, seq], "\(naming.id(of: id)) has both seqs")
      }
    }
    ledgers[room].replace(by: entries)
    for client in sends.indices {
      for index in sends[client].indices where sends[client][index].room == room {
        sends[client][index].deliveredAs = places[.init(client: client, number: index + 1)]
      }
    }
  }
}
