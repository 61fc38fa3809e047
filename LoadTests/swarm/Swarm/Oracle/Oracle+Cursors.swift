public import Wire

/// The receivers' positions: what they have asked for, and which entry must come next.
extension Oracle {
  /// A receiver's position in a room, computed from the same messages as the relay's cursor.
  struct Cursor: Sendable {
    let room: Int
    /// The `after` of each join that is not answered.
    var asked: [Int64?] = []
    /// The number that must come next; `nil` while nothing may come.
    var next: Int64?
    /// The numbers that were skipped.
    var holes: [Int64] = []
  }

  /// Records a receiver's join request.
  public mutating func asked(_ receiver: Int, toJoin room: Int, after: Int64?) {
    if let index = cursor(of: receiver, in: room) {
      cursors[receiver][index].asked.append(after)
    } else {
      let place = place(of: room, among: receiver)
      cursors[receiver].insert(Cursor(room: room, asked: [after]), at: place)
    }
  }

  /// Handles the position of a receiver's cursor, as `joined` reports it.
  public mutating func joined(_ joined: ServerMessage.Joined, by receiver: Int) {
    guard let room = naming.room(joined.room), let index = cursor(of: receiver, in: room) else {
      return report(.invented, joined.room, [], "\(name(receiver)) had not requested to join it")
    }
    reportHoles(of: receiver, index)
    ledgers[room].first = max(ledgers[room].first, joined.first)
    // Also sent without a request if the log has changed under the cursor.
    let wasAsked = !cursors[receiver][index].asked.isEmpty
    let asked = wasAsked ? cursors[receiver][index].asked.removeFirst() : nil
    let after = joined.after
    cursors[receiver][index].next = after + 1
    if mayFork { held[receiver][room, default: HeldEntries()].goOn(after: after) }
    switch joined.resume {
    case .ok:
      if let asked, asked != after {
        report(
          .gap, joined.room, [asked, after],
          "\(name(receiver)) asked for entries after \(asked), but received ok after \(after)")
      }
    case .truncated:
      if after != joined.first - 1 {
        report(
          .gap, joined.room, [after],
          "\(name(receiver)) received truncated after \(after), but the first kept entry is"
            + " \(joined.first)")
      }
    case .diverged, .reset:
      if mayFork { return forked(joined, room) }
      report(
        .forgotten, joined.room, [asked ?? 0, after],
        "\(name(receiver)) had entries up to \(asked.map(String.init) ?? "-"), but received"
          + " \(joined.resume.rawValue) after \(after)")
    }
  }

  /// Handles the end of a receiver's connection: later entries belong to another cursor.
  public mutating func disconnected(_ receiver: Int) {
    for index in cursors[receiver].indices {
      reportHoles(of: receiver, index)
      cursors[receiver][index].asked = []
      cursors[receiver][index].next = nil
    }
  }

  /// Handles a receiver's leaving of a room.
  public mutating func left(_ receiver: Int, room: Int) {
    guard let index = cursor(of: receiver, in: room) else { return }
    reportHoles(of: receiver, index)
    cursors[receiver].remove(at: index)
  }

  /// Whether a receiver has reached the highest number that any receiver has seen, in all of its
  /// rooms.
  public func isAtHead(_ receiver: Int) -> Bool {
    cursors[receiver].allSatisfy { ($0.next ?? 0) > ledgers[$0.room].expected }
  }

  /// Reports the entries that a receiver never got, after the run and its grace period.
  public mutating func demandHead(of receiver: Int) {
    mustAgree.append(receiver)
    for cursor in cursors[receiver] {
      guard let next = cursor.next, next <= ledgers[cursor.room].expected else { continue }
      report(
        .gap, naming.rooms[cursor.room], [next],
        "\(name(receiver)) is connected and joined, but received nothing from \(next) on, although"
          + " there are entries up to \(ledgers[cursor.room].expected)",
        context(of: cursor.room, around: next))
    }
  }

  /// Advances a receiver's cursor over an entry.
  mutating func advance(_ receiver: Int, _ room: Int, _ seq: Int64) {
    guard let index = cursor(of: receiver, in: room),
      let next = cursors[receiver][index].next
    else {
      return report(
        .invented, naming.rooms[room], [seq], "\(name(receiver)) has not joined this room")
    }
    if seq == next {
      cursors[receiver][index].next = next + 1
    } else if seq > next {
      // The skipped entries may still come: then the order is wrong, otherwise they are missing.
      let holes = cursors[receiver][index].holes
      if holes.count < 1000 { cursors[receiver][index].holes += (next..<min(seq, next + 1000)) }
      cursors[receiver][index].next = seq + 1
    } else if let hole = cursors[receiver][index].holes.firstIndex(of: seq) {
      cursors[receiver][index].holes.remove(at: hole)
      report(
        .reordered, naming.rooms[room], [seq, next - 1],
        "\(name(receiver)) received \(seq) after \(next - 1)")
    } else {
      report(
        .doubled, naming.rooms[room], [seq],
        "\(name(receiver)) received \(seq) again, after \(next - 1)")
    }
  }

  func cursor(of receiver: Int, in room: Int) -> Int? {
    let place = place(of: room, among: receiver)
    return place < cursors[receiver].count && cursors[receiver][place].room == room ? place : nil
  }

  /// Returns the index of a room's cursor among a receiver's, or where it would be inserted.
  private func place(of room: Int, among receiver: Int) -> Int {
    var (low, high) = (0, cursors[receiver].count)
    while low < high {
      let middle = (low + high) / 2
      if cursors[receiver][middle].room < room { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private mutating func reportHoles(of receiver: Int, _ index: Int) {
    let cursor = cursors[receiver][index]
    guard !cursor.holes.isEmpty else { return }
    cursors[receiver][index].holes = []
    report(
      .gap, naming.rooms[cursor.room], cursor.holes,
      "\(name(receiver)) did not receive them, but later ones",
      context(of: cursor.room, around: cursor.holes[0]))
  }
}
