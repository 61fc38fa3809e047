internal import Gateway
internal import Hostile
internal import Relay
internal import ShardWorld
internal import Wire

/// Checks the cost of all clients, adversaries included, against the bounds.
extension Simulation {
  /// Excludes waits from the check for this time, and for as long as a bound allows afterwards: the
  /// run itself stalls threads, and work has gathered meanwhile.
  func disturb(for milliseconds: Int64) {
    disturbedUntil = max(disturbedUntil, now.monotonic + milliseconds + Bound.waitMilliseconds)
  }

  /// Checks the wait of an honest client for the relay.
  func recordWait(since: Int64, _ purpose: String) {
    let wait = now.monotonic - since
    referee.tally.count(.waited)
    if wait > Bound.waitMilliseconds / 4 { referee.tally.count(.waitedLong) }
    guard bounds.contains(.waits), since >= disturbedUntil, wait > Bound.waitMilliseconds else {
      return
    }
    referee.fault("an honest client waited \(wait) ms \(purpose), not \(Bound.waitMilliseconds)")
  }

  /// Checks the work of the log's thread for a batch.
  func check(
    _ work: Work, of batches: [(loop: Int, requests: [LogRequest])], _ outcome: Sequencer.Outcome
  ) {
    if bounds.contains(.rooms) {
      for case .memberships(_, _, let rooms, _, _) in outcome.answers.joined() {
        if rooms.count > Bound.roomsPerPage {
          referee.fault("a request for rooms lists \(rooms.count), not \(Bound.roomsPerPage)")
        }
      }
    }
    guard bounds.contains(.lookups), let relay else { return }
    let redacted = relay.log.redactedEdits
    if redacted - redactedEdits > Bound.redactedEditsPerCommit {
      referee.fault("\(redacted - redactedEdits) edits are overwritten in one step")
    }
    let requests = batches.reduce(0) { $0 + $1.requests.count }
    let questions = outcome.answers.joined().count {
      if case .memberships = $0 { true } else { false }
    }
    let most = requests * Bound.lookupsPerRequest + questions * 2 * Bound.roomsPerPage
    if work.runs > (questions + 1) * Bound.runsPerCount {
      referee.fault("\(work.runs) runs are read to count unread entries")
    }
    if work.lookups > most + work.runs + lookupsToRetry {
      referee.fault("\(work.lookups) lookups for \(requests) requests, not \(most)")
    }
    // A later batch repeats the lookups of a batch that could not be stored, and does so again if
    // it fails too.
    lookupsToRetry = outcome.failure == nil ? 0 : lookupsToRetry + most
  }

  /// Checks the work of the reading thread for a request.
  func check(_ work: Work, of request: ReadRequest, _ answer: LogAnswer) {
    if bounds.contains(.folding), case .history(_, let history, _, _, _, _) = request {
      let most = history.limit * Bound.changesPerFoldedEntry
      if work.changes > most {
        referee.fault("\(work.changes) changes to fold \(history.limit) entries, not \(most)")
      }
    }
    if bounds.contains(.folding), case .history(_, let history, _, _, _, _) = request,
      history.isFolded
    {
      let most = Bound.rowsPerFoldedPage + history.limit * Bound.rowsPerFoldedEntry
      if work.rows > most {
        referee.fault("\(work.rows) entries are read to fold \(history.limit), not \(most)")
      }
    }
    if bounds.contains(.replies), case .reply(_, let json) = answer,
      json.count > Bound.replyBytes + Bound.replySlackBytes
    {
      referee.fault("a reply of \(json.count) bytes, not \(Bound.replyBytes)")
    }
  }

  func checkLongestMessage() {
    let longest = referee.longestMessageBytes
    if bounds.contains(.replies), longest > Bound.replyBytes + Bound.replySlackBytes {
      referee.fault("a message of \(longest) bytes, not \(Bound.replyBytes)")
    }
  }

  // MARK: - People

  /// Changes the directory's list: longer, shorter, empty, or in another order.
  func changeDirectory() {
    schedule(.directory, in: pick(20...scenario.directoryPauseMilliseconds))
    referee.tally.count(.directoryChanged)
    let count = [0, 1, 2, 7, 40, 60, 250].randomElement(using: &random) ?? 0
    var names = clients.map(\.user) + (0..<count).map { "p\($0)" }
    if chance(40) { names.shuffle(using: &random) }
    if chance(30) { names = Array(names.prefix(Int(pick(0...Int64(names.count))))) }
    people = PeopleList(
      names.map { Person(user: $0, name: "\($0) \($0)") }, source: "simulated", asOf: now.wall)
    publishPeople()
  }

  func publishPeople() {
    guard let relay else { return }
    relay.post(.people(DirectoryUpdate(people: people)))
    for loop in relay.loopIndices { wake(loop: loop, in: 0) }
  }
}

/// The bounds that are checked; by default all.
public enum HeldBound: String, CaseIterable, Sendable {
  /// The time for which honest clients wait for the relay.
  case waits
  /// The lookups of the log's thread for a request.
  case lookups
  /// The number of rooms of a page.
  case rooms
  /// The reads for folding.
  case folding
  /// The edits and reactions of one entry.
  case entries
  /// The size of a reply.
  case replies
}
