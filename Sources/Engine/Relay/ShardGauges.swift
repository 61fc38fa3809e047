/// What a shard has at present.
public struct ShardGauges: Sendable {
  public var sessions = 0
  /// Distinct users of the sessions.
  public var users = 0
  /// Rooms with a subscription.
  public var rooms = 0
  public var subscriptions = 0
  /// Subscriptions that are not at the head.
  public var lagging = 0
  public var queuedBytes = 0
  public var tailBytes = 0
  /// The same for all shards, but for a moment.
  public var directory = DirectoryUpdate(people: PeopleList([], source: "", asOf: 0))

  public init() {}
}
