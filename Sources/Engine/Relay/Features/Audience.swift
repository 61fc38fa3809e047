import Wire

/// What a feature sees of its shard: rooms, the sessions in them, and the ways to answer a session,
/// to ask the log and to inform sessions.
///
/// A feature owns its state, which nothing else reads or writes, and changes nothing but through this
/// port. `Shard` conforms; tests may have a conformer of their own. Everything is called on the
/// loop's thread.
protocol Audience: ~Copyable {
  // MARK: Rooms

  /// Returns a room that this loop knows.
  func room(named name: String) -> Handle<Room>?
  /// Returns the name of a room; nil without one, or if this loop has released the room since.
  func name(of room: Handle<Room>?) -> String?

  // MARK: Users and sessions

  func id(of session: Slot<Session>) -> SessionID
  func user(of session: Slot<Session>) -> String
  /// The presence of a user over all loops.
  func presence(of user: String) -> Presence
  /// The same, as a session may know it.
  func presence(of user: String, to session: Slot<Session>) -> Presence
  /// Since when a session gets nothing of a user's presence, typing and receipts because one of them has
  /// blocked the other, in milliseconds since 1970; `nil` if it does.
  func separation(of user: String, _ session: Slot<Session>) -> Int64?
  /// Whether the session has joined the room, or has asked the log for it, and has not left.
  func hasSubscribed(to room: String, _ session: Slot<Session>) -> Bool
  /// Throws if the room's name or the client's rights do not allow a request.
  func checkAccess(to room: String, re: RequestName, _ session: Slot<Session>) throws(WireError)
  /// Whether the client's token, if any, allows it to read the room.
  func rightsAllowReading(_ room: String, _ session: Slot<Session>) -> Bool

  mutating func forEachSession(of user: String, _ body: (inout Self, Slot<Session>) -> Void)

  // MARK: Requests and answers

  mutating func reply(_ message: ServerMessage, ref: String?, to session: Slot<Session>)
  mutating func reply(_ error: WireError, ref: String?, to session: Slot<Session>)
  /// Returns the length in bytes of JSON that `write` appends.
  mutating func length(_ write: (inout [UInt8]) -> Void) -> Int
  /// Returns the origin of a request that the log answers, and reserves the answer's place in the
  /// session's queue.
  mutating func origin(_ re: RequestName, ref: String?, _ session: Slot<Session>)
    -> LogRequest.Origin
  /// Sends a request to the log with the next batch.
  mutating func submit(_ request: LogRequest)
  /// Sends a request to storage at the end of the turn.
  mutating func read(_ request: ReadRequest)
  /// Makes the session's input wait until `endReply`, since its request needs storage.
  mutating func awaitReply(ref: String?, _ session: Slot<Session>)
  /// Lets the session's input go on.
  /// - Returns: the `ref` that `awaitReply` was given.
  mutating func endReply(to session: Slot<Session>) -> String?

  // MARK: Informing

  /// Encodes the message that `inform` sends.
  mutating func encode(_ message: ServerMessage)
  /// Sends the encoded message to sessions. To one that does not read, the latest message of the key
  /// is sent when it reads again (`LatestQueue`).
  mutating func inform(_ recipients: Recipients, _ key: EphemeralKey)
  /// As above, to one session.
  mutating func inform(_ session: Slot<Session>, _ key: EphemeralKey)
}

/// What the lists of rooms see besides: the rooms themselves, and which of them a session has joined.
protocol ListsAudience: Audience, ~Copyable {
  func name(of room: Slot<Room>) -> String
  func handle(of room: Slot<Room>) -> Handle<Room>
  func bounds(of room: Slot<Room>) -> RoomBounds
  /// Returns the JSON of a room's last entry; empty if there is none, or if it is hidden from the user.
  func lastEntry(of room: Slot<Room>, for user: String) -> ArraySlice<UInt8>
  /// Returns a room, with at least the bounds that the log has told. It may be forgotten unless it is
  /// retained.
  mutating func update(_ room: String, head: Int64, firstKept: Int64) -> Slot<Room>
  mutating func retain(_ room: Slot<Room>)
  mutating func release(_ room: Slot<Room>)

  func hasJoined(_ room: Slot<Room>, _ session: Slot<Session>) -> Bool
  func joinedRooms(of session: Slot<Session>) -> [Slot<Room>]
  /// The user of a session, as storage needs to know them.
  func asker(_ session: Slot<Session>, _ now: Moment) -> ReadRequest.Asker
  mutating func chargeRequests(_ count: Int, _ session: Slot<Session>)
  /// Encodes the message that `inform` sends.
  mutating func encode(_ activity: ServerMessage.Activity, last: ArraySlice<UInt8>)
}

/// The entries of a room that are kept.
struct RoomBounds {
  /// The `seq` of the last entry.
  var head: Int64
  var firstKept: Int64
}

/// The sessions that a message about a room is for.
enum Recipients {
  /// Those that have joined the room, but for the sessions of the key's user; in a direct room also
  /// the peer's sessions that have requested `rooms`.
  case others
  /// Of those of `others` the sessions of one user, also of one who is separated from the key's user.
  case other(String)
  /// The sessions of the key's user that have joined the room, or have requested `rooms`.
  case ownSessions
  /// Those that have joined the room and asked for the number of its subscribers.
  case counting
}

extension Audience where Self: ~Copyable {
  /// Returns when a user was last online, as a session may know it: when the two were separated, if they are.
  /// The earlier time that storage may have is when the user last came or went: it would move as soon as they
  /// come or go again.
  func lastSeen(_ at: Int64?, of user: String, to session: Slot<Session>) -> Int64? {
    separation(of: user, session) ?? at
  }
}
