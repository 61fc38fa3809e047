import Relay
import ShardWorld

/// The bounds for the impact of other clients on an honest one, and for the cost of one request.
public enum Bound {
  /// The longest time in which the relay may read bytes that have arrived from an honest client,
  /// answer its sends and joins, or read storage for it: 50 ms, which no user notices, on a machine
  /// that is `Work.slowdown` times slower. Only the relay's own time counts, from when it has
  /// received the bytes; waits during which the run itself has stalled a thread do not count.
  public static let waitMilliseconds: Int64 = 50 * Int64(Work.slowdown)
  /// The maximum number of lookups of the log's thread for a request: its room, id and target, one
  /// edit of a forwarded text, a slice of the edits of a deleted text, or the epochs of a room.
  public static let lookupsPerRequest = 48
  /// The maximum number of runs that are looked up to count unread entries, for all marks of a batch
  /// or for a slice of rooms. Each comes with at most one further lookup.
  public static let runsPerCount =
    Sequencer.unreadRunsLimit + 2 * Int(Sequencer.unreadLimit) + 3
  /// The maximum number of rooms of a page of `rooms`, each with its unread count.
  public static let roomsPerPage = 256
  /// The maximum number of changes read to fold an entry: its last edit, its deletion and its
  /// reactions.
  public static let changesPerFoldedEntry = 64
  /// The maximum number of rows read for a folded page, per requested entry: changes of other
  /// entries are skipped.
  public static let rowsPerFoldedEntry = 16
  public static let rowsPerFoldedPage = 256
  /// The maximum number of edits of deleted texts that one transaction overwrites.
  public static let redactedEditsPerCommit = 128
  /// The size at which a reply ends, after at least one item.
  public static let replyBytes = 131_072
  /// The size of a reply's envelope, and of the part of the last item that no limit covers.
  public static let replySlackBytes = 4096
}
