internal import Glibc

/// A mistake that was put into the product on purpose, to see how soon the simulation finds it.
///
/// The places are compiled only where the package is built with `PLANTED_BUGS` in the environment, and
/// one at a time is active: the one that `RELAY_PLANTED_BUG` names.
public enum PlantedBug: String, CaseIterable, Sendable {
  // Relay
  case duplicateOfRefusedIsAcknowledged
  case headKeptAfterRefusal
  case refusedIsOvertaken
  case holdRunsOutUnread
  case marksGoBack
  case truncationNotTold
  case divergenceNotTold
  case blockedSocketRepeats
  case catchUpSkips
  case joinMissesCommit
  case deletedTextStaysInMemory
  case editsOfDeletedStay
  // Relay, and what one user could do to others
  case peopleCursorUnbounded
  case peoplePlaceOfOldList
  case editsUnbounded
  case deleteLoadsAllEdits
  case reactionsUnbounded
  case foldLoadsAllChanges
  case roomsUnsliced
  // WebSocket, Client
  case maskPhaseLost
  case lineForgottenOnReconnect
  // SQLiteLog
  case commitNotSynced
  case failedCommitAcknowledged
  case dedupeForgottenOnceSettled
  case lostEpochsIgnored
  case trimNotStored
  case readerSkipsAnEntry
  case sweepTakesOneMore
  case aheadIndexUsed
  case journalNotWrittenAgainAtStart

  /// What is wrong, and where.
  public var text: String {
    switch self {
    case .duplicateOfRefusedIsAcknowledged:
      "a second send is acknowledged though the batch with the first is refused|`Sequencer.refuse`"
    case .headKeptAfterRefusal:
      "after a refused batch numbers go on behind what was not stored|`Sequencer.takeBack`"
    case .refusedIsOvertaken:
      "what came while a send was being refused is stored before it|`Shard.refuseGathered`"
    case .holdRunsOutUnread:
      "what follows a refused send is refused by the clock, though it was not read|`Holds.passPause`"
    case .marksGoBack: "a mark moves back|`Sequencer.mark`"
    case .truncationNotTold: "`ok` where entries are gone|`Resumption`"
    case .divergenceNotTold: "`ok` where the log has lost entries|`Resumption`"
    case .blockedSocketRepeats:
      "the cursor of a socket that blocks is one entry short|`Shard.writeDirectly`"
    case .catchUpSkips: "a page from storage moves the cursor one too far|`Shard.apply(page)`"
    case .joinMissesCommit:
      "a cursor that begins behind the head is taken to be at it|`Shard.entered`"
    case .deletedTextStaysInMemory:
      "what was deleted is still read from memory|`Shard.forget`"
    case .editsOfDeletedStay:
      "the edits of what was deleted keep their text|`StoreState.redactEdits`"
    case .editsUnbounded: "a text may be edited any number of times|`Sequencer.editLimit`"
    case .reactionsUnbounded:
      "an entry may be given any number of emoji|`Sequencer.reactionLimit`"
    case .deleteLoadsAllEdits: "every edit is overwritten in one transaction|`Leftovers.Slice`"
    case .foldLoadsAllChanges:
      "a folded page reads every entry on its way|`Gathering.gatherFolded`"
    case .peopleCursorUnbounded:
      "a cursor of people may name any place, and it is computed with|`Shard.place(behind:)`"
    case .peoplePlaceOfOldList:
      "a place in an earlier list of people is looked up in the present one|`Shard.answerPeople`"
    case .roomsUnsliced: "a user's rooms are asked for all at once|`Sequencer.belongings`"
    case .maskPhaseLost: "a payload that comes in pieces is unmasked wrongly|`WebSocket.Connection`"
    case .lineForgottenOnReconnect:
      "a line that was on its way is not sent again|`Outbox.connectionLost`"
    case .commitNotSynced: "acknowledged before the sync|`Schema`: `synchronous`"
    case .failedCommitAcknowledged: "a commit that failed counts as made|`SQLiteStore.commit`"
    case .dedupeForgottenOnceSettled: "ids in the index are not known|`StoreState.find`"
    case .lostEpochsIgnored: "every epoch reaches to the head|`StoreState.lastSeq`"
    case .trimNotStored: "where a trimmed room begins is not stored|`StoreState.apply`"
    case .readerSkipsAnEntry: "a page begins one entry late|`SQLiteReader`"
    case .sweepTakesOneMore: "the oldest kept entry is deleted as well|`Settler.garbage`"
    case .aheadIndexUsed: "an index from after the backup is used|`IndexSchema.misfit`"
    case .journalNotWrittenAgainAtStart:
      "what a failed sync left unwritten is not written at a start|`Schema`"
    }
  }

  /// Whether this is the one.
  public var isActive: Bool { Self.active == self }

  private static let active: PlantedBug? =
    unsafe getenv("RELAY_PLANTED_BUG").flatMap { unsafe PlantedBug(rawValue: String(cString: $0)) }
}
