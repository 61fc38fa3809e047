public import Platform

extension RawLoad {
  /// When the next message of a room is sent.
  public enum Pace: Equatable, Sendable {
    /// So many messages of each room are under way: the next one is sent when the one before it has
    /// come back. The server is asked for all that it can; latencies count from the send.
    case window(Int)
    /// So many sends a second, all rooms together, at equal distances, whatever the server does;
    /// latencies count from the intended time.
    case rate(Double)
  }

  /// What tells a room of a ``Pace/window(_:)`` that a message is no longer under way.
  public enum Release: String, CaseIterable, Sendable {
    /// Its delivery to the first member, who is a sender.
    case delivery
    /// Its acknowledgement.
    case ack
  }

  /// What the connections do.
  public enum Work: Equatable, Sendable {
    /// Members publish and receive, for ``Plan/warmUpSeconds`` and ``Plan/seconds``.
    case publish(Pace)
    /// All connect and join, and that is what is measured.
    case connect
    /// All have joined, and then hold still for ``Plan/seconds``, or until `stop`.
    case idle
    /// Each room is filled with so many messages; then all members come back at once, having none of
    /// them, and what is measured is how fast they get them.
    case resume(messages: Int)
  }

  /// What a raw load does.
  public struct Plan: Equatable, Sendable {
    /// Where the server is, `ws://…`.
    public var url: String
    /// How it is spoken to.
    public var dialect: RawDialect
    /// How many rooms there are.
    public var rooms = 1
    /// Connections in each of them.
    public var membersPerRoom = 1
    /// How many of these send, in turn.
    public var sendersPerRoom = 1
    /// Where rooms differ: each of them, instead of the three numbers above. Empty: they are alike.
    public var layout: [Room] = []
    /// What the connections do.
    public var work = Work.publish(.window(1))
    /// Of a window.
    public var release = Release.delivery
    /// The length of a text, which is ASCII.
    public var textBytes = 128
    /// Under load, before it counts.
    public var warmUpSeconds = 1.0
    /// That count.
    public var seconds = 5.0
    /// The processor that the thread is bound to; `nil` leaves it where it is.
    public var processor: Int?
    /// Handshakes that are under way at a time.
    public var connectsAtOnce = 64
    /// After the load, and while connecting: so long without progress, and what is missing is missing.
    public var patienceMilliseconds = 5_000
    /// Of so many deliveries, one is timed.
    public var sampleEvery = 61
    /// Addresses of this machine that connections are made from, in turn; empty leaves it to the
    /// system, which has 28,232 ports by default for one.
    public var sourceAddresses: [Address] = []
    /// Rooms are called this and a number; `nil` chooses a name that no other run has.
    public var roomPrefix: String?

    /// The shortest text: the mark and the time in hexadecimal.
    public static let textBytesMinimum = 17

    /// A plan for one connection, to be made larger.
    public init(url: String, dialect: RawDialect) {
      self.url = url
      self.dialect = dialect
    }

    /// Each room.
    public var allRooms: [Room] {
      let alike = Room(members: membersPerRoom, senders: sendersPerRoom)
      return layout.isEmpty ? Array(repeating: alike, count: max(0, rooms)) : layout
    }

    /// Members of all rooms.
    public var connections: Int { allRooms.reduce(0) { $0 + $1.members } }
  }

  /// One room.
  public struct Room: Equatable, Sendable {
    /// Connections in it.
    public var members: Int
    /// How many of these send, in turn.
    public var senders: Int

    /// A room.
    public init(members: Int, senders: Int) {
      self.members = members
      self.senders = senders
    }
  }

  /// A point of a run that others may want to look at the server at.
  public enum Moment: Sendable {
    /// All are connected, and members of their rooms; and for ``Work/resume(messages:)`` the rooms
    /// are full and those who come back are connected, but have not asked yet.
    case ready
    /// What counts begins.
    case measuring
    /// What counts is over; the load stops.
    case measured
    /// Everything has arrived, or nothing more comes.
    case drained
  }

  /// What keeps a raw load from beginning, or going on; prints as a sentence.
  public struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
    /// One line for a person.
    public var description: String
    /// Whether the plan asks for something that cannot be.
    public var isUsage: Bool
    /// Set where it was a signal that ended it.
    public var signal: Int32?
  }
}
