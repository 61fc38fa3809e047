internal import Wire

/// Counts of events: a fault that never occurs proves nothing.
public struct Tally: Sendable {
  /// An event that is counted; the raw value is its description for a person.
  public enum Event: String, CaseIterable, Sendable {
    // The disk.
    case synced = "files synced"
    case deathBeforeWrite = "deaths before a write"
    case deathWithinWrite = "deaths within a write"
    case deathAfterWrite = "deaths after a write"
    case deathBeforeSync = "deaths before a sync"
    case deathWithinSync = "deaths during a sync"
    case deathAfterSync = "deaths after a sync"
    case changeSurvived = "unsynced changes that survived a power loss"
    case changeLost = "unsynced changes lost"
    case changeReordered = "changes that survived an earlier one's loss"
    case writeTorn = "writes torn at a sector's border"
    case nameChangeLost = "creations and deletions of files lost"
    case diskFull = "writes to a full disk"
    case writeFailed = "writes that failed"
    case syncFailed = "syncs that failed"
    case readFailed = "reads that failed"
    case waitedForLock = "waits for a lock"
    // The relay.
    case powerLost = "power losses"
    case killed = "kills of the process"
    case shutDown = "orderly shutdowns"
    case endedUnsynced = "exits after a checkpoint's failed sync"
    case started = "starts"
    case startFailed = "starts that failed"
    case commitPublished = "commits"
    case batchRefused = "batches refused by the store"
    case deathBeforePublish = "deaths between a commit and its publication"
    case inDoubtKept = "unacknowledged entries present after a start"
    case refusedKept = "refused entries present after a power loss (see README)"
    case backupTaken = "backups taken"
    case backupRestored = "older backups restored"
    case indexRestored = "indices lost, or restored from another time"
    case indexDiscarded = "indices that did not match and were rebuilt"
    case storeWiped = "stores replaced by empty ones"
    case backgroundStep = "background steps of the log"
    case indexed = "segments indexed"
    case swept = "sweeps of trimmed entries"
    case segmentForgotten = "index segments that were removed"
    case interlude = "reads within a call of another connection"
    case trimmed = "rooms trimmed"
    case clockForward = "jumps of the clock forward"
    case clockBack = "jumps of the clock back"
    case loopStalled = "stalls of an event loop"
    case slept = "times in which relay and clients did not run"
    case logStalled = "stalls of the log"
    // The network.
    case connected = "connections"
    case connectionRefused = "connections refused"
    case bytesCut = "connections cut with bytes in flight"
    case frameCut = "frames of which a part arrived"
    case halfOpen = "connections cut at one end only"
    case relayTimedOut = "silent clients closed by the relay"
    case clientTimedOut = "silent relays that a client disconnected from"
    case pinged = "pings of the relay"
    case readerStopped = "readers that stopped"
    case socketBlocked = "partial writes to a socket"
    // Messages to clients.
    case resumedOK = "resume ok"
    case resumedTruncated = "resume truncated"
    case resumedDiverged = "resume diverged"
    case resumedReset = "resume reset"
    case overtaken = "cursors overtaken by retention"
    case entryShown = "entries shown"
    case acknowledged = "acknowledgements"
    case duplicateAcknowledged = "acknowledgements of duplicates"
    case refusedUnavailable = "sends refused: unavailable"
    case joinRefused = "joins refused: unavailable"
    case joinSuperseded = "joins with a ref that were overtaken"
    case historyRead = "pages of history"
    case historyResumed = "histories that tell a client where its entries continue"
    case historyFailed = "pages of history that could not be read"
    case roomsListed = "lists of rooms"
    case activityTold = "activity elsewhere"
    case receiptTold = "receipts"
    case presenceTold = "presence of others"
    case changed = "edits and reactions"
    case deleted = "deletions"
    case referred = "replies and forwards"
    case changeRefused = "sends refused because of their target"
    case ruled = "settings and roles"
    case deletedByOthers = "deletions by moderators"
    case departed = "subscriptions that an entry ended"
    case hidden = "rooms that did not exist for a user"
    case forbidden = "requests that a room's rules refused"
    case blocked = "blocks of a user"
    case unblocked = "ends of blocks"
    case blocksTold = "lists of blocked users"
    case entryHidden = "entries of blocked users, without their content"
    case reported = "reports of entries"
    case blockRefused = "refused blocks and reports"
    case conflictTold = "sends refused because their id has other content"
    case closingTold = "announcements of a restart"
    case botTold = "entries delivered to a bot"
    case botSaid = "messages of a bot"
    case banned = "adversaries who were banned"
    case bannedRefused = "connections of banned users that were refused"
    case verifiedLater = "tokens that took a while to verify"
    case compressed = "connections that compress"
    // Over HTTP.
    case posted = "posts"
    case postTaken = "posts that became entries"
    case postKnown = "posts of known entries"
    case askedOverHTTP = "other requests over HTTP"
    case streamed = "entries of event streams"
    case eventIdentified = "positions of event streams"
    case polled = "polls of a room"
    case pollAnswered = "polls that got entries"
    case batched = "requests in batches"
    case ready = "answers that the relay is ready"
    case unready = "answers that the relay is not ready"
    // Files.
    case fileUploaded = "uploads that became files"
    case uploadResumed = "uploads that went on after a break"
    case uploadBegun = "uploads that began again"
    case partDamaged = "parts of uploads without their checksum"
    case fileNamed = "entries that name files"
    case fileForwarded = "files that were sent on"
    case fileRefused = "files that a user may not name"
    case fileServed = "downloads"
    case fileHidden = "downloads of files that a user may not read"
    case userIsFull = "uploads and files beyond a user's limit"
    case bytesRemoved = "contents that were removed"
    case leftoverFound = "contents that a crash had left"
    case userErased = "users who were erased"
    case roomDeleted = "rooms that were deleted"
    // Adversaries, and their impact on others.
    case attackerConnected = "connections of adversaries"
    case attackerDropped = "connections of adversaries that were ended"
    case attackMessage = "messages of adversaries"
    case attackEdit = "edits of one text by an adversary"
    case attackReaction = "reactions to one text by an adversary"
    case attackRoom = "rooms created by an adversary"
    case directoryChanged = "changes of the directory"
    case waited = "waits of honest clients for the relay"
    case waitedLong = "waits beyond a quarter of the bound"
    // Nodes that share a database.
    case nodeStarted = "starts of a node"
    case nodeKilled = "kills of a node"
    case nodeFrozen = "nodes that were frozen"
    case nodeStartedAgain = "nodes that started again in place"
    case spendingTold = "what users spent on another node"
    case connectionsEnded = "ends of all connections to the database"
    case commitLost = "commits lost with their connection"
    case commitUnanswered = "commits stored without an answer"
    case commitUnreplicated = "commits that did not wait for the standby"
    case databaseCrashed = "crashes of the database"
    case promoted = "promotions of a standby that had everything"
    case promotedBehind = "promotions of a standby that was behind"
    case databaseRestored = "older dumps restored"

    /// Whether only a cluster has it.
    var isOfCluster: Bool {
      switch self {
      case .nodeStarted, .nodeKilled, .nodeFrozen, .nodeStartedAgain, .spendingTold,
        .connectionsEnded,
        .commitLost,
        .commitUnanswered, .commitUnreplicated, .databaseCrashed, .promoted, .promotedBehind,
        .databaseRestored:
        true
      default: false
      }
    }
  }

  /// Returns whether a campaign of many seeds must have seen the event; otherwise it has not tested
  /// what it claims to test.
  static func isExpected(_ event: Event, of store: StoreKind) -> Bool {
    if store == .cluster || event.isOfCluster {
      return store == .cluster
        && (event.isOfCluster
          || [
            .entryShown, .acknowledged, .duplicateAcknowledged, .refusedUnavailable, .resumedOK,
            .resumedDiverged, .resumedReset, .ruled,
          ].contains(event))
    }
    switch event {
    // With one thread no lock is held for long.
    case .waitedForLock: return false
    default: break
    }
    if store == .sqlite { return true }
    switch event {
    case .synced, .deathBeforeWrite, .deathWithinWrite, .deathAfterWrite, .deathBeforeSync,
      .deathWithinSync, .deathAfterSync, .changeSurvived, .changeLost, .changeReordered, .writeTorn,
      .nameChangeLost, .diskFull, .writeFailed, .syncFailed, .readFailed, .powerLost, .startFailed,
      .endedUnsynced, .indexed, .swept, .segmentForgotten, .indexRestored, .indexDiscarded,
      .batchRefused, .inDoubtKept, .refusedKept, .backupTaken,
      .backupRestored, .storeWiped,
      .backgroundStep, .leftoverFound, .interlude, .refusedUnavailable, .joinRefused,
      .joinSuperseded,
      .historyFailed, .resumedDiverged:
      return false
    default: return true
    }
  }

  private var counts: [Int] = Array(repeating: 0, count: Event.allCases.count)

  public init() {}

  public mutating func count(_ event: Event, _ times: Int = 1) {
    counts[Self.place(of: event)] += times
  }

  /// Counts an entry by its effect on other entries.
  mutating func count(_ entry: Entry) {
    if entry.kind == .delete {
      count(.deleted)
    } else if entry.kind.isNotice {
      count(.ruled)
    } else if !entry.kind.isContent {
      count(.changed)
    } else if entry.replyTo != nil || entry.forward != nil {
      count(.referred)
    }
  }

  public subscript(_ event: Event) -> Int { counts[Self.place(of: event)] }

  public static func += (left: inout Tally, right: Tally) {
    for place in left.counts.indices { left.counts[place] += right.counts[place] }
  }

  private static let places = Dictionary(
    uniqueKeysWithValues: Event.allCases.enumerated().map { ($1, $0) })

  private static func place(of event: Event) -> Int {
    guard let place = places[event] else { preconditionFailure("every case has a place") }
    return place
  }
}
