internal import Glibc

/// A mistake that was put into the product on purpose, to see how soon the simulation finds it.
///
/// The places are compiled only where the package is built with `PLANTED_BUGS` in the environment, and
/// one at a time is active: the one that `RELAY_PLANTED_BUG` names.
public enum PlantedBug: String, CaseIterable, Sendable {
  // Relay
  case duplicateOfRefusedIsAcknowledged
  case headKeptAfterRefusal
  case dedupeWithinBatchForgotten
  case refusedIsOvertaken
  case marksGoBack
  case truncationNotTold
  case divergenceNotTold
  case blockedSocketRepeats
  case catchUpSkips
  case joinMissesCommit
  // WebSocket, Client
  case maskPhaseLost
  case resentOutOfOrder
  // SQLiteLog
  case commitNotSynced
  case failedCommitAcknowledged
  case dedupeForgottenAtStart
  case lostEpochsIgnored
  case trimNotStored
  case readerSkipsAnEntry
  case journalNotWrittenAgainAtStart
  case startReusesEpoch

  /// What is wrong, and where.
  public var text: String {
    switch self {
    case .duplicateOfRefusedIsAcknowledged:
      "a second send is acknowledged though the batch with the first is refused | `Sequencer.refuse`"
    case .headKeptAfterRefusal:
      "after a refused batch numbers go on behind what was not stored | `Sequencer.takeBack`"
    case .dedupeWithinBatchForgotten:
      "the same id twice in one batch makes two entries | `Sequencer.handle(append)`"
    case .refusedIsOvertaken:
      "what came while a send was being refused is stored before it | `Shard.refuseGathered`"
    case .marksGoBack: "a mark moves back | `Sequencer.mark`"
    case .truncationNotTold: "`ok` where entries are gone | `Resumption`"
    case .divergenceNotTold: "`ok` where the log has lost entries | `Resumption`"
    case .blockedSocketRepeats:
      "the cursor of a socket that blocks is one entry short | `Shard.writeDirectly`"
    case .catchUpSkips: "a page from storage moves the cursor one too far | `Shard.apply(page)`"
    case .joinMissesCommit:
      "a cursor that begins behind the head is taken to be at it | `Shard.entered`"
    case .maskPhaseLost:
      "a payload that comes in pieces is unmasked wrongly | `WebSocket.Connection`"
    case .resentOutOfOrder:
      "behind a refused line the next ones are not held back | `Outbox.postpone`"
    case .commitNotSynced: "acknowledged before the sync | `Schema`, `synchronous`"
    case .failedCommitAcknowledged: "a commit that failed counts as made | `SQLiteStore.commit`"
    case .dedupeForgottenAtStart: "ids of earlier runs are not known | `SQLiteStore.find`"
    case .lostEpochsIgnored: "every epoch reaches to the head | `SQLiteStore.lastSeq`"
    case .trimNotStored:
      "entries are deleted, and where the room begins is not stored | `StoreState`"
    case .readerSkipsAnEntry: "a page begins one entry late | `SQLiteReader`"
    case .journalNotWrittenAgainAtStart:
      "what a failed sync left unwritten is not written at a start | `Schema`"
    case .startReusesEpoch: "a start goes on in the last epoch | `SQLiteStore.init`"
    }
  }

  /// Whether this is the one.
  public var isActive: Bool { Self.active == self }

  private static let active: PlantedBug? =
    unsafe getenv("RELAY_PLANTED_BUG").flatMap { unsafe PlantedBug(rawValue: String(cString: $0)) }
}
