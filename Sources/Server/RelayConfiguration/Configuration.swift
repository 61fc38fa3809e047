public import Directories

/// What an operator can set, with its default: one property for each key of `config/relay.yaml`.
///
/// The structs mirror the YAML; a name that carries a unit there carries it here, spelled out.
/// `Configuration()` is the defaults; `load(file:environment:overrides:)` is the way from the
/// outside. A limit of 0 means that there is none.
public struct Configuration: Equatable, Sendable {
  /// Where clients connect: `HOST:PORT`, `[ADDRESS]:PORT` for IPv6; port 0 lets the system pick.
  public var listen = "127.0.0.1:8080"
  /// The folder that holds the log; made if it is missing.
  public var dataDirectory = "./data"
  /// Event loops; 0 is one for each usable core.
  public var loops = 0
  /// The least severe level that is written to standard error.
  public var logLevel = LogLevel.info
  /// A SIGTERM is over within this.
  public var drainSeconds = 10
  /// What is kept of each room, and how safely.
  public var log = Log()
  /// With which certificate.
  public var tls = TLS()
  /// Who may connect.
  public var auth = Auth()
  /// What a client may cost.
  public var limits = Limits()
  /// How new entries share writes.
  public var delivery = Delivery()
  /// Which messages are compressed.
  public var compression = Compression()
  /// For tests and benchmarks; off in service.
  public var debug = Debug()
  /// Which rooms there are.
  public var rooms = Rooms()
  /// Where people come from.
  public var directory = Directory()
  /// The simulated users, those of `bots_file` included.
  public var bots: [Bot] = []
  /// The file that `bots` came from; empty where they stand in the configuration itself.
  public var botsFile = ""

  /// The defaults.
  public init() {}
}

extension Configuration {
  /// The severities of swift-log, by the same names.
  public enum LogLevel: String, CaseIterable, Sendable {
    case trace, debug, info, notice, warning, error, critical
  }

  /// What an acknowledgement is worth.
  public enum Durability: String, CaseIterable, Sendable {
    /// An acknowledged entry survives the loss of power.
    case fsync
    /// An acknowledged entry survives the end of the process, however it ends.
    case os
    /// Nothing is kept on disk.
    case memory
  }

  /// `log.*`: what is kept, and how safely.
  public struct Log: Equatable, Sendable {
    /// What an acknowledgement is worth.
    public var durability = Durability.fsync
    /// The newest entries that each room keeps; 0 keeps all.
    public var keepEntriesPerRoom = 0
    /// Recent entries held in memory, all rooms together.
    public var tailBytes = 8_388_608
  }

  /// `tls.*`: PEM files; both or neither.
  public struct TLS: Equatable, Sendable {
    /// The relay's own certificate first, then those up to an authority.
    public var certificate = ""
    /// Its private key, without a passphrase.
    public var key = ""

    /// Whether the relay serves in clear.
    public var isOff: Bool { certificate.isEmpty && key.isEmpty }
  }

  /// How a client says who it is.
  public enum AuthMode: String, CaseIterable, Sendable {
    /// `?user=` is believed.
    case open
    /// By a token (RFC 7519), which `secret` or `publicKey` verifies.
    case jwt
  }

  /// `auth.*`: who may connect.
  public struct Auth: Equatable, Sendable {
    /// How a client says who it is.
    public var mode = AuthMode.open
    /// Of tokens by HS256; empty where there is none.
    public var secret = ""
    /// Of tokens by RS256 or ES256: PEM, or the path of a file with it; empty where there is none.
    public var publicKey = ""
    /// Lets `mode: open` listen on an address that others can reach.
    public var allowOpenRemote = false
    /// Values of `Origin` that are let in; empty lets in the relay's own host only.
    public var origins: [String] = []
    /// Users who are not let in.
    public var banned: [String] = []
    /// Users whose tokens may read what is the operator's: the metrics.
    public var operators: [String] = []
  }

  /// `limits.*`: what a client may cost; 0 is no limit.
  public struct Limits: Equatable, Sendable {
    /// Connections at once.
    public var connections = 100_000
    /// Connections at once from one address.
    public var connectionsPerAddress = 1000
    /// Connections at once from one address that have not said who they are.
    public var unauthenticatedPerAddress = 50
    /// From accept to the end of the opening handshake.
    public var handshakeTimeoutMilliseconds = 5000
    /// The request line and headers of an HTTP request.
    public var headerBytes = 8192
    /// A frame from a client, a whole message, and its inflated form.
    public var frameBytes = 65_536
    /// Frames that one message may come in.
    public var messageFragments = 1024
    /// Pings and pongs of one connection in a second; more of them end it.
    public var controlFramesPerSecond = 100
    /// The `text` of an entry, in UTF-8.
    public var textBytes = 8192
    /// Edits of one text.
    public var editsPerEntry = 100
    /// Different emoji given to one entry; 10 of them by each user.
    public var reactionsPerEntry = 50
    /// Rooms that one connection may have joined.
    public var roomsPerConnection = 256
    /// Rooms that a user may belong to.
    public var roomsPerUser = 10_000
    /// Connections at once of one user.
    public var connectionsPerUser = 50
    /// Sends of one user over all connections, sustained; beyond it the user is slowed.
    public var sendsPerSecond = 20
    /// Sends at once, after a rest.
    public var burst = 40
    /// Everything but sends, and duplicate sends, of one user; a bucket of its own.
    public var requestsPerSecond = 50
    /// Bytes of input of one user, as they are after inflating; a third bucket.
    public var bytesPerSecond = 262_144
    /// Waiting for one socket; beyond it the client is behind and catches up from the log.
    public var queueBytes = 262_144
    /// The relay pings after this much silence.
    public var heartbeatSeconds = 25
    /// Closed after this long without a byte in, or a queued one out.
    public var idleTimeoutSeconds = 60
  }

  /// `delivery.*`: how new entries share writes, each of which costs as much as many entries.
  public struct Delivery: Equatable, Sendable {
    /// Committed entries wait once for those of their room that are just being committed.
    public var hold = true
    /// A room's next fan-out waits as long as its last one took, at most this; 0 is never.
    public var pacingMaxMilliseconds = 5
  }

  /// `compression.*`: permessage-deflate (RFC 7692), for the clients that offer it.
  public struct Compression: Equatable, Sendable {
    /// Whether it is agreed to at all.
    public var enabled = true
    /// Messages of fewer bytes go as they are.
    public var minimumBytes = 256
  }

  /// `debug.*`: for tests and benchmarks.
  public struct Debug: Equatable, Sendable {
    /// Serves a plain WebSocket echo at `/echo`.
    public var echo = false
    /// Makes every acknowledgement this late.
    public var commitDelayMilliseconds = 0
  }

  /// Who may bring a room into being.
  public enum RoomCreation: String, CaseIterable, Sendable {
    /// Whoever joins it, or sends to it, first.
    case anyone
    /// No one: the listed rooms are all there are, besides direct messages.
    case listed
  }

  /// `rooms.*`: which rooms there are.
  public struct Rooms: Equatable, Sendable {
    /// Who may bring a room into being.
    public var create = RoomCreation.anyone
    /// Rooms that everyone is shown.
    public var listed = [ListedRoom(room: "general", title: "General")]
  }

  /// A room that everyone is shown.
  public struct ListedRoom: Equatable, Sendable {
    /// Its name on the wire.
    public var room: String
    /// Its name for people.
    public var title: String

    /// A room and its name for people.
    public init(room: String, title: String) {
      self.room = room
      self.title = title
    }
  }

  /// Where people come from.
  public enum DirectoryKind: String, CaseIterable, Sendable {
    /// A file.
    case local
    case github
    case x
  }

  /// `directory.*`: the people that everyone is shown.
  public struct Directory: Equatable, Sendable {
    /// Where people come from.
    public var kind = DirectoryKind.local
    /// Of `local`.
    public var file = Directory.defaultFile
    /// `org:…`, `followers:…`, `following:…` or `users` of GitHub; `followers:…` of X.
    public var source = ""
    /// Empty is the service's own.
    public var baseURL = ""
    /// Shown to GitHub; empty is none.
    public var token = ""
    /// Prints such a token; empty is none.
    public var tokenCommand = ""
    /// Which of X's interfaces is spoken.
    public var api = XVersion.v2
    /// Of an application at X.
    public var key = ""
    /// Of that key.
    public var secret = ""
    /// Between two readings of a service's list; 0 is the kind's own.
    public var refreshSeconds = 0
    /// A service's list ends there.
    public var peopleLimit = 10_000
    /// Whether pictures are fetched from this machine and private networks as well.
    public var allowsPrivateAvatars = false

    /// Which may be missing.
    package static let defaultFile = "config/people.yaml"
  }

  /// What the command line says; it wins over everything else.
  public struct Overrides: Equatable, Sendable {
    /// `--listen`.
    public var listen: String?
    /// `--data`.
    public var data: String?

    /// The flags that were given.
    public init(listen: String? = nil, data: String? = nil) {
      self.listen = listen
      self.data = data
    }
  }

  /// Reads the configuration: flags over environment over file over defaults.
  ///
  /// Reads the file, and the one that `bots_file` names, with blocking calls; relative paths start
  /// at the working directory. Of `environment` only names that begin with `RELAY_` are looked at.
  /// - Throws: everything that is wrong, not only the first of it.
  public static func load(
    file: String?, environment: [String: String], overrides: Overrides = Overrides()
  ) throws(ConfigurationError) -> Configuration {
    var reader = ConfigurationReader()
    if let file {
      reader.readFile(file)
    }
    reader.readEnvironment(environment)
    reader.readCommandLine(overrides)
    reader.readBotsFile()
    reader.checkWhole()
    guard reader.problems.isEmpty else { throw ConfigurationError(problems: reader.problems) }
    return reader.configuration
  }
}
