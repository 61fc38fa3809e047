public import Platform

extension RawLoad {
  /// When a room's next message is sent.
  public enum Pace: Equatable, Sendable {
    /// A closed loop: this many messages of each room are in flight, and the next one is sent when
    /// one of them has come back. The server is loaded to its limit; latencies count from the send.
    case window(Int)
    /// An open loop: this many sends per second in all rooms together, at equal intervals, whatever
    /// the server does; latencies count from the intended time.
    case rate(Double)
  }

  /// The event after which a message of ``Pace/window(_:)`` is no longer in flight.
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
    /// All connect and join; the rate of this is measured.
    case connect
    /// All have joined, and are silent for ``Plan/seconds``, or until `stop`.
    case idle
    /// Each room is filled with this many messages; then all members return together, without any
    /// of them, and the rate at which they receive them is measured.
    case resume(messages: Int)
  }

  /// The parameters of a raw load.
  public struct Plan: Equatable, Sendable {
    /// The server's URL, `ws://…` or `wss://…`.
    public var url: String
    /// A file with the authorities that vouch for the server's certificate; `nil` = those of the system.
    public var authorities: String?
    /// The ports of equal servers at that host, which share the connections in turn; empty for the one
    /// server of the URL.
    public var ports: [UInt16] = []
    /// The server's dialect.
    public var dialect: RawDialect
    /// The number of rooms.
    public var rooms = 1
    /// Connections per room.
    public var membersPerRoom = 1
    /// The number of members who send, in turn.
    public var sendersPerRoom = 1
    /// The rooms one by one if they differ, instead of the three numbers above; otherwise empty.
    public var layout: [Room] = []
    /// What the connections do.
    public var work = Work.publish(.window(1))
    /// The values of `{lane}` in turn: the number of rooms to which each connection sends, if the
    /// dialect names them so.
    public var lanes = 1
    /// For a window.
    public var release = Release.delivery
    /// The length of a text, which is ASCII.
    public var textBytes = 128
    /// The time under load before the measurement.
    public var warmUpSeconds = 1.0
    /// The duration of the measurement.
    public var seconds = 5.0
    /// The processor to which the thread is bound; `nil`: none.
    public var processor: Int?
    /// The maximum number of handshakes in progress.
    public var connectsAtOnce = 64
    /// After the load and while connecting: without progress for this long, everything that has not
    /// arrived is missing.
    public var patienceMilliseconds = 5_000
    /// One of this many deliveries is timed.
    public var sampleEvery = 61
    /// The source addresses of connections, in turn. If empty, the system chooses one, which by
    /// default has 28,232 ports.
    public var sourceAddresses: [Address] = []
    /// The prefix of room names, before a number; `nil` chooses one that is unique to the run.
    public var roomPrefix: String?

    /// The minimum length of a text: the mark and the time in hexadecimal.
    public static let textBytesMinimum = 17
    /// The largest number of ``lanes``: `{lane}` has five digits.
    public static let lanesMaximum = 100_000

    /// Creates a plan for one connection, to be extended.
    public init(url: String, dialect: RawDialect) {
      self.url = url
      self.dialect = dialect
    }

    /// All rooms.
    public var allRooms: [Room] {
      let alike = Room(members: membersPerRoom, senders: sendersPerRoom)
      return layout.isEmpty ? Array(repeating: alike, count: max(0, rooms)) : layout
    }

    /// The number of members of all rooms.
    public var connections: Int { allRooms.reduce(0) { $0 + $1.members } }
  }

  /// One room.
  public struct Room: Equatable, Sendable {
    /// The number of connections.
    public var members: Int
    /// The number of members who send, in turn.
    public var senders: Int

    /// Creates a room.
    public init(members: Int, senders: Int) {
      self.members = members
      self.senders = senders
    }
  }

  /// A point of a run at which a caller may examine the server.
  public enum Moment: Sendable {
    /// All connections are members of their rooms. For ``Work/resume(messages:)``: the rooms are
    /// full, and the returning members are connected but have not asked yet.
    case ready
    /// The measurement begins.
    case measuring
    /// The measurement ends; the load stops.
    case measured
    /// Everything has arrived, or nothing more arrives.
    case drained
  }

  /// Why a raw load cannot begin or continue; prints as a sentence.
  public struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
    /// A single line for the user.
    public var description: String
    /// Whether the plan is invalid.
    public var isUsage: Bool
    /// The signal that ended it, if any.
    public var signal: Int32?
  }
}
