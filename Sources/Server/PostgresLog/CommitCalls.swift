internal import Cluster
internal import Moderation
internal import Postgres
internal import Relay
internal import Wire

/// The statements that store a batch. One statement takes all rows of a table, as arrays.
struct CommitCalls {
  private(set) var calls: [PostgresCall] = []

  /// - Parameter epoch: the number of the current epoch.
  init(_ changes: StoreChanges, epoch: Int64) {
    if !changes.isDurable { calls.append(Statements.commitsLater()) }
    if !changes.newRooms.isEmpty {
      calls.append(
        Statements.insertRooms(
          .ints(changes.newRooms.map(\.number)), .texts(changes.newRooms.map(\.name))))
    }
    addEpochs(changes, epoch)
    addEntries(changes.entries)
    if !changes.formerMembers.isEmpty {
      calls.append(
        Statements.deleteMembers(
          .ints(changes.formerMembers.map(\.room)), .texts(changes.formerMembers.map(\.user))))
    }
    if !changes.members.isEmpty {
      calls.append(
        Statements.insertMembers(
          .ints(changes.members.map(\.room)), .texts(changes.members.map(\.user)),
          .ints(changes.members.map(\.marks.read)), .ints(changes.members.map(\.marks.received)),
          .ints(changes.members.map(\.head))))
    }
    addRules(changes)
    addBlocks(changes)
    addReactions(changes.entries)
    addRedactions(changes.redactions)
    if !changes.trims.isEmpty {
      calls.append(
        Statements.trimRooms(
          .ints(changes.trims.map(\.room)), .ints(changes.trims.map(\.first))))
    }
    if !changes.seen.isEmpty {
      calls.append(
        Statements.insertSeen(.texts(changes.seen.map(\.user)), .ints(changes.seen.map(\.at))))
    }
    if !changes.erasedUsers.isEmpty {
      calls.append(Statements.deleteSeen(.texts(changes.erasedUsers)))
    }
  }

  /// In the first epoch only new rooms begin one; afterwards each room may.
  private mutating func addEpochs(_ changes: StoreChanges, _ epoch: Int64) {
    var first: [Int64: Int64] = [:]
    let new = Set(changes.newRooms.map(\.number))
    for entry in changes.entries
    where first[entry.room] == nil && (epoch > 1 || new.contains(entry.room)) {
      first[entry.room] = entry.entry.seq
    }
    guard !first.isEmpty else { return }
    let rooms = first.keys.sorted()
    calls.append(
      Statements.insertRoomEpochs(
        .ints(rooms), .ints(rooms.map { _ in epoch }), .ints(rooms.map { (first[$0] ?? 1) - 1 })))
  }

  private mutating func addEntries(_ entries: [StoreChanges.NewEntry]) {
    guard !entries.isEmpty else { return }
    calls.append(
      Statements.insertEntries(
        .ints(entries.map(\.room)), .ints(entries.map(\.entry.seq)),
        .ints(entries.map(\.entry.at)), .ints(entries.map(\.identity.hash)),
        .ints(entries.map(\.others)), .ints(entries.map(\.content)),
        .optionalInts(entries.map { $0.change?.target }),
        .optionalInts(entries.map { $0.change?.number }), .texts(entries.map(\.entry.from)),
        .texts(entries.map(\.entry.id)), .texts(entries.map(\.entry.kind.rawValue)),
        .byteStrings(entries.map(\.entry.body))))
  }

  private mutating func addRules(_ changes: StoreChanges) {
    let rules = changes.rules
    let standings = changes.standings.filter { $0.standing != .unnamed }
    let former = changes.standings.filter { $0.standing == .unnamed }
    if !changes.cleared.isEmpty {
      calls.append(Statements.clearStandings(.ints(changes.cleared)))
    }
    if !former.isEmpty {
      calls.append(
        Statements.deleteStandings(.ints(former.map(\.room)), .texts(former.map(\.user))))
    }
    if !rules.isEmpty {
      calls.append(
        Statements.insertRules(
          .ints(rules.map(\.room)), .byteStrings(rules.map(\.rules.settingsBody)),
          .ints(rules.map { Int64($0.rules.counts.owners) }),
          .ints(rules.map { Int64($0.rules.counts.members) }),
          .ints(rules.map { Int64($0.rules.counts.barred) })))
    }
    if !standings.isEmpty {
      calls.append(
        Statements.insertStandings(
          .ints(standings.map(\.room)), .texts(standings.map(\.user)),
          .texts(standings.map(\.standing.base.rawValue)),
          .ints(standings.map(\.standing.banNumber)), .ints(standings.map(\.standing.muteNumber)),
          .ints(standings.map(\.standing.since)),
          .texts(standings.map { $0.standing.inviter ?? "" })))
    }
  }

  private mutating func addBlocks(_ changes: StoreChanges) {
    let directs = changes.directs.filter { !$0.state.isEmpty }
    let former = changes.directs.filter(\.state.isEmpty)
    if !former.isEmpty { calls.append(Statements.deleteDirects(.ints(former.map(\.room)))) }
    if !directs.isEmpty {
      calls.append(
        Statements.insertDirects(
          .ints(directs.map(\.room)), .texts(directs.map(\.state.text))))
    }
    for change in changes.blocks {
      calls.append(
        change.at.map {
          Statements.insertBlock(.text(change.user), .text(change.blocked), .int($0))
        } ?? Statements.deleteBlock(.text(change.user), .text(change.blocked)))
    }
    for change in changes.bans {
      calls.append(
        change.isBanned
          ? Statements.insertBan(.text(change.user), .int(change.until ?? 0))
          : Statements.deleteBan(.text(change.user)))
    }
    let reports = changes.reports.filter(\.hasCopy)
    let without = changes.reports.filter { !$0.hasCopy }
    if !reports.isEmpty {
      calls.append(
        Statements.insertReports(
          .ints(reports.map(\.report)), .ints(reports.map(\.room)), .ints(reports.map(\.seq)),
          .ints(reports.map(\.at))))
    }
    if !without.isEmpty { calls.append(Statements.updateReports(.ints(without.map(\.report)))) }
    if let first = changes.firstReport { calls.append(Statements.deleteReports(.int(first))) }
  }

  /// The reactions that the batch leaves, whatever was given and taken back in between.
  private mutating func addReactions(_ entries: [StoreChanges.NewEntry]) {
    struct Key: Hashable {
      var room: Int64
      var target: Int64
      var user: String
      var emoji: String
    }
    var ended: [Key] = []
    var given: [(key: Key, seq: Int64)] = []
    var places: [Key: Int] = [:]
    for new in entries where new.entry.kind == .react {
      guard let target = new.change?.target, let (emoji, isOn) = new.entry.reaction else {
        continue
      }
      let key = Key(room: new.room, target: target, user: new.entry.from, emoji: emoji)
      if isOn, places[key] == nil {
        places[key] = given.count
        given.append((key, new.entry.seq))
      } else if !isOn {
        ended.append(key)
        if let place = places.removeValue(forKey: key) { given[place].seq = 0 }
      }
    }
    given.removeAll { $0.seq == 0 }
    if !ended.isEmpty {
      calls.append(
        Statements.deleteReactions(
          .ints(ended.map(\.room)), .ints(ended.map(\.target)), .texts(ended.map(\.user)),
          .texts(ended.map(\.emoji))))
    }
    if !given.isEmpty {
      calls.append(
        Statements.insertReactions(
          .ints(given.map(\.key.room)), .ints(given.map(\.key.target)),
          .texts(given.map(\.key.user)), .texts(given.map(\.key.emoji)), .ints(given.map(\.seq))))
    }
  }

  private mutating func addRedactions(_ redactions: [(room: Int64, seq: Int64, body: [UInt8])]) {
    guard !redactions.isEmpty else { return }
    let (rooms, seqs) = (redactions.map(\.room), redactions.map(\.seq))
    calls.append(
      Statements.redactEntries(.ints(rooms), .ints(seqs), .byteStrings(redactions.map(\.body))))
    calls.append(
      Statements.redactEdits(
        .ints(rooms), .ints(seqs), .byteStrings(seqs.map { Entry.deletedEditBody(of: $0) })))
  }
}
