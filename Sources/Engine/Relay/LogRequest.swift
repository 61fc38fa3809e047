public import Wire

/// A request from a loop to the log. Requests are processed in the order of arrival. Rare ones are indirect, so
/// that a frequent one, which is copied into its batch, is small.
public enum LogRequest: Sendable {
  case append(Append)
  case subscribe(Subscribe)
  /// A subscription has ended; one for each `subscribe` that was answered with `subscribed`.
  case unsubscribe(room: String, user: String)
  /// A user has received or read entries up to a `seq`. The value is limited to the head, and never
  /// decreases a mark. Its origin is answered `ok`, or `not_joined` if the user does not belong to the
  /// room.
  case mark(room: String, Marks, from: Origin? = nil)
  /// A user leaves the room for good. Its origin is answered `left`, or `not_joined`.
  case forget(room: String, user: String, from: Origin? = nil)
  /// A user started or stopped typing: published to all loops, and not stored. Its origin is answered
  /// `ok`.
  case typing(room: String, user: String, on: Bool, from: Origin? = nil)
  /// The presence of a user in the sessions of this loop has changed; `offline` = there are none.
  case presence(user: String, from: Presence, to: Presence)
  /// Asks for a slice of the rooms that a user belongs to, at most `limit` of them. The answer
  /// includes the `listed` rooms that the user does not belong to, and has the same ticket.
  indirect case memberships(
    ticket: UInt32, user: String, listed: [String], after: MembershipsCursor, limit: Int)
  /// Asks for the times of an entry. Answered by `.traced`.
  indirect case trace(Trace)
  /// A user blocks another one, or ends it. Its origin is answered `ok` once that is stored.
  indirect case block(Block)
  /// A user accepts a direct room that is a request. Its origin is answered `ok` once that is stored, or
  /// `not_joined`.
  indirect case accept(room: String, user: String, from: Origin?)

  /// An operator bans a user from the relay, or lets them in again. Its origin is answered `ok` once that is
  /// stored.
  indirect case ban(BanChange, Order)
  /// An operator removes the entries and the members of a room. Its origin is answered `ok` once that is
  /// stored.
  indirect case deleteRoom(String, Order)
  /// An operator has changed what is not in the log. The origin is answered `ok` once that is recorded.
  indirect case act(Act, Order)
  /// An operator removes a part of what a user has said, or is. Its origin is answered `ok` once that is
  /// stored.
  indirect case erase(Erasure, Order)
  /// The files that entries may name. Answered by `.file`.
  indirect case file(FileChange, FileAsker)
  /// A user reports an entry. Its origin is answered `ok` once that is stored.
  indirect case report(Report)

  /// Who wants what only an operator may do.
  public struct Order: Sendable {
    public var user: String
    public var origin: Origin
    /// As in `Append`.
    public var receivedAt: Int64

    public init(by user: String, origin: Origin, receivedAt: Int64 = 0) {
      self.user = user
      self.origin = origin
      self.receivedAt = receivedAt
    }
  }

  /// A part of the erasure of a user.
  public struct Erasure: Equatable, Sendable {
    public var user: String
    /// `nil` = what is in no room.
    public var room: String?
    /// An entry of the room; `nil` = all but its entries.
    public var seq: Int64?

    public init(user: String, room: String? = nil, seq: Int64? = nil) {
      self.user = user
      self.room = room
      self.seq = seq
    }
  }

  /// A report about an entry.
  public struct Report: Sendable {
    public var room: String
    public var seq: Int64
    public var user: String
    public var isOperator: Bool
    public var reason: String
    public var origin: Origin
    /// As in `Append`.
    public var receivedAt: Int64

    public init(
      room: String, seq: Int64, user: String, isOperator: Bool, reason: String, origin: Origin,
      receivedAt: Int64 = 0
    ) {
      self.room = room
      self.seq = seq
      self.user = user
      self.isOperator = isOperator
      self.reason = reason
      self.origin = origin
      self.receivedAt = receivedAt
    }
  }

  /// A request to begin a block, or to end it.
  public struct Block: Sendable {
    public var user: String
    public var blocked: String
    public var on: Bool
    public var origin: Origin

    public init(user: String, blocked: String, on: Bool, origin: Origin) {
      self.user = user
      self.blocked = blocked
      self.on = on
      self.origin = origin
    }
  }

  /// A sender that the other user of a direct room may not know.
  public struct Stranger: Sendable {
    /// The service by which they have signed in; `""` = none.
    public var issuer: String

    public init(issuer: String) { self.issuer = issuer }
  }

  /// The request of a client that awaits an answer.
  public struct Origin: Sendable {
    public var session: SessionID
    public var re: RequestName
    public var ref: String?

    public init(session: SessionID, re: RequestName, ref: String?) {
      self.session = session
      self.re = re
      self.ref = ref
    }
  }

  /// Whose answer it is, unknown to the log: a connection of the loop, and its HTTP exchange.
  public struct Ticket: Equatable, Sendable {
    public var connection: Int32
    public var exchange: UInt64

    public init(connection: Int32, exchange: UInt64) {
      self.connection = connection
      self.exchange = exchange
    }
  }

  /// A request to trace an entry.
  public struct Trace: Sendable {
    public enum Entry: Equatable, Sendable {
      case seq(Int64)
      /// The last one with this id that the user sent, or for an operator any user.
      case id(String)
      /// The last one, of any room, of a trace.
      case trace(TraceID)
    }

    public var ticket: Ticket
    public var room: String
    public var entry: Entry
    /// The user, who gets traces of own entries only; `nil` = an operator.
    public var user: String?
    /// Whether the request may learn which entries the room has.
    public var mayRead: Bool

    public init(ticket: Ticket, room: String, entry: Entry, user: String?, mayRead: Bool) {
      self.ticket = ticket
      self.room = room
      self.entry = entry
      self.user = user
      self.mayRead = mayRead
    }
  }

  /// A request to append an entry. An object, because a struct of this size is copied, with all its
  /// references, wherever a request is looked at.
  public final class Append: Sendable {
    public let session: SessionID
    public let room: String
    public let user: String
    public let id: String
    public let kind: EntryKind
    public let body: [UInt8]
    /// As in `ClientMessage.Send`; the log validates it.
    public let reference: ClientMessage.Reference?
    /// Whether this send may create the room.
    public let mayCreate: Bool
    /// Whether the user is an operator of the relay.
    public let isOperator: Bool
    /// Of `settings`: whether the operators show the room to every user.
    public let isListed: Bool
    /// Set if the first entry of a direct room is a request to the other user.
    public let stranger: Stranger?
    /// As in `ClientRequest`.
    public let ref: String?
    /// When it was received, in microseconds of the monotonic clock.
    public let receivedAt: Int64
    /// As in `ClientMessage.Send`.
    public let traceparent: Traceparent?
    /// Which rooms the user may read; for an entry that names a file.
    public let rights: Rights

    public init(
      session: SessionID, room: String, user: String, id: String, kind: EntryKind, body: [UInt8],
      reference: ClientMessage.Reference? = nil, mayCreate: Bool, isOperator: Bool = false,
      isListed: Bool = false, stranger: Stranger? = nil, ref: String? = nil, receivedAt: Int64 = 0,
      traceparent: Traceparent? = nil, rights: Rights = .all
    ) {
      self.session = session
      self.room = room
      self.user = user
      self.id = id
      self.kind = kind
      self.body = body
      self.reference = reference
      self.mayCreate = mayCreate
      self.isOperator = isOperator
      self.isListed = isListed
      self.stranger = stranger
      self.ref = ref
      self.receivedAt = receivedAt
      self.traceparent = traceparent
      self.rights = rights
    }

    /// Whether the entry changes the room: its settings, or what a user is in it.
    var isNotice: Bool {
      switch reference {
      case .settings, .member: true
      default: false
      }
    }
  }

  /// A join: the user becomes a member of the room, and is subscribed until `unsubscribe`.
  public struct Subscribe: Sendable {
    public var session: SessionID
    public var room: String
    public var user: String
    /// The client's position, as in `ClientMessage.Join`.
    public var after: Int64?
    public var epoch: String?
    public var lineage: [EpochStart]?
    public var mayCreate: Bool
    /// As in `Append`.
    public var isOperator: Bool

    public init(
      session: SessionID, room: String, user: String, after: Int64?, epoch: String?,
      lineage: [EpochStart]? = nil, mayCreate: Bool, isOperator: Bool = false
    ) {
      self.session = session
      self.room = room
      self.user = user
      self.after = after
      self.epoch = epoch
      self.lineage = lineage
      self.mayCreate = mayCreate
      self.isOperator = isOperator
    }
  }
}
