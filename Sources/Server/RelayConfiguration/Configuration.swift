public import Directories
public import Relay

/// The settings of a relay with their defaults: one property for each key of `config/relay.yaml`.
///
/// The structs mirror the YAML, except that limits which the engine enforces are in the engine's own
/// types, with their defaults; a unit in a key's name is spelled out in the property's name.
/// `Configuration()` has the defaults; `load(file:environment:overrides:)` reads all sources. A
/// limit of 0 means no limit.
public struct Configuration: Equatable, Sendable {
  /// The address to listen on: `HOST:PORT`, `[ADDRESS]:PORT` for IPv6; port 0 = chosen by the
  /// system.
  public var listen = "127.0.0.1:8080"
  /// The folder of the log; created if it is missing.
  public var dataFolder = "./data"
  /// The number of event loops; 0 = one per usable core.
  public var loops = 0
  /// The lowest level that is written to standard error.
  public var logLevel = LogLevel.info
  /// The form of its lines.
  public var logFormat = LogFormat.text
  /// The time limit for a graceful shutdown after SIGTERM.
  public var drainSeconds = 10
  /// Addresses and networks (CIDR) of proxies, which are believed what they say of their clients.
  public var trustedProxies: [String] = []
  /// Whether each connection begins with a header of the PROXY protocol, and comes from a trusted proxy.
  public var proxyProtocol = false
  /// The path below which a proxy has the relay, such as `/chat`; empty = none.
  public var pathPrefix = ""
  /// Whether the web page is served.
  public var web = true
  /// The storage of entries.
  public var log = Log()
  /// Which entries are kept: the first rule that matches a room decides. `log.keepEntriesPerRoom` is for
  /// the other rooms.
  public var retention: [Retention.Rule] = []
  /// The certificate and its key.
  public var tls = TLS()
  /// Authentication and authorization.
  public var auth = Auth()
  /// The limits of clients.
  public var limits = Limits()
  /// The files that users upload.
  public var files = Files()
  /// Access to the metrics.
  public var metrics = Metrics()
  /// Access to the administration.
  public var admin = Administration()
  /// Batching of new entries.
  public var delivery = Delivery()
  /// Compression of messages.
  public var compression = Compression()
  /// Options for tests and benchmarks; off in production.
  public var debug = Debug()
  /// Listed rooms and room creation.
  public var rooms = Rooms()
  /// The source of the user directory.
  public var directory = Directory()
  /// The users who are listed besides.
  public var people = People()
  /// The simulated users, including those of `bots_file`.
  public var bots: [Bot] = []
  /// The file that `bots` was read from; empty if the bots are in the configuration itself.
  public var botsFile = ""

  /// The defaults.
  public init() {}
}

extension Configuration {
  /// Which failures an acknowledged entry survives.
  public enum Durability: String, CaseIterable, Sendable {
    /// An acknowledged entry survives power loss.
    case fsync
    /// An acknowledged entry survives the end of the process, however it ends.
    case os
    /// Entries are not stored on disk.
    case memory
  }

  /// Where a log is stored.
  public enum Engine: String, CaseIterable, Sendable {
    /// In the data folder, for one relay.
    case sqlite
    /// In a PostgreSQL that any number of relays share.
    case postgresql
  }

  /// What a commit to PostgreSQL has to survive before an entry is acknowledged or shown.
  public enum Requirement: String, CaseIterable, Sendable {
    /// What `Durability` says, on the server that accepts writes.
    case local
    /// The loss of that server: a synchronous standby has the commit.
    case replicated
  }

  /// `log.*`: retention and durability.
  public struct Log: Equatable, Sendable {
    /// Where entries are stored.
    public var engine = Engine.sqlite
    /// The connection URI of PostgreSQL; empty for other engines.
    public var url = ""
    /// The connection URI of a replica, which history is read from; empty = `url`.
    public var readURL = ""
    /// What a commit to PostgreSQL has to survive.
    public var require = Requirement.local
    /// Which failures an acknowledged entry survives.
    public var durability = Durability.fsync
    /// How many of its newest entries each room keeps; 0 = all.
    public var keepEntriesPerRoom = 0
    /// How many bytes of the disk stay free, of the engine `sqlite`; 0 = none.
    public var minimumFreeBytes = 0
    /// The memory for recent entries of all rooms, in bytes.
    public var tailBytes = 8_388_608
  }

  /// `tls.*`: PEM files; both or neither are set.
  public struct TLS: Equatable, Sendable {
    /// The path of the certificate chain: the relay's certificate first, then the intermediates.
    public var certificate = ""
    /// The path of its private key, without a passphrase.
    public var key = ""

    /// Whether the relay serves without TLS.
    public var isOff: Bool { certificate.isEmpty && key.isEmpty }
  }

  /// How clients authenticate.
  public enum AuthMode: String, CaseIterable, Sendable {
    /// Without verification, by `?user=`.
    case open
    /// By a token (RFC 7519) that one of the keys verifies.
    case jwt
    /// By accounts of the relay's own: people sign in, and each device has a session.
    case accounts
  }

  /// The ways to sign in.
  public enum SignInMethod: String, CaseIterable, Sendable {
    /// By an invitation: a link that another user has made.
    case invite
    /// At GitHub.
    case github
    /// At a provider of OpenID Connect.
    case oidc
  }

  /// `auth.github.*`: signing in at GitHub, by an OAuth application of the operator's.
  public struct GitHubSignIn: Equatable, Sendable {
    /// The client ID of the application.
    public var clientID = ""
    /// A client secret of it.
    public var clientSecret = ""
    /// Only members of this organization enter; empty = everyone with an account there.
    public var organization = ""
    /// The address of GitHub, or of a GitHub Enterprise Server.
    public var baseURL = "https://github.com"
    /// The address of its API; of a server `https://HOST/api/v3`.
    public var apiURL = "https://api.github.com"
  }

  /// `auth.oidc.*`: signing in at a provider of OpenID Connect.
  public struct OIDCSignIn: Equatable, Sendable {
    /// What people call it.
    public var title = "OpenID"
    /// Its address, byte for byte as its discovery document has it.
    public var issuer = ""
    /// The client ID that it has given the relay.
    public var clientID = ""
    /// The client secret; empty = a public client.
    public var clientSecret = ""
    /// The claim that proposes the user name.
    public var userClaim = "preferred_username"
    /// Only members of these groups enter; empty = everyone with an account there.
    public var groups: [String] = []
    /// The claim that has a person's groups.
    public var groupsClaim = "groups"
  }

  /// The users who may make such links.
  public enum Inviters: String, CaseIterable, Sendable {
    case operators
    /// Every user.
    case members
  }

  /// `auth.*`: authentication and authorization.
  public struct Auth: Equatable, Sendable {
    /// How clients authenticate.
    public var mode = AuthMode.open
    /// The secret of HS256 tokens; empty = none.
    public var secret = ""
    /// The key of RS256 or ES256 tokens: PEM, or the path of a PEM file; empty = none.
    public var publicKey = ""
    /// Keys that the header of a token names.
    public var keys: [TokenKey] = []
    /// The file or URL of a JWK Set (RFC 7517); empty = none.
    public var jwks = ""
    /// The required `iss`; empty = unchecked.
    public var issuer = ""
    /// The value that `aud` must be or contain; empty = unchecked.
    public var audience = ""
    /// The claim that names the user.
    public var userClaim = "sub"
    /// The earliest `iat` of these users' tokens, in seconds since 1970.
    public var notBefore: [String: Int64] = [:]
    /// Allows `mode: open` on an address that other machines can reach.
    public var allowOpenRemote = false
    /// Allowed values of `Origin`; empty = only the relay's own host.
    public var origins: [String] = []
    /// Users who may not connect.
    public var banned: [String] = []
    /// Users whose tokens make them operators.
    public var operators: [String] = []
    /// Where browsers find a relay with accounts, such as `https://chat.example.org`; empty = where it
    /// listens, on loopback.
    public var publicURL = ""
    /// How people sign in.
    public var signIn = [SignInMethod.invite]
    /// Signing in at GitHub.
    public var gitHub = GitHubSignIn()
    /// Signing in at a provider of OpenID Connect.
    public var oidc = OIDCSignIn()
    /// The users who may invite.
    public var invites = Inviters.operators
    /// A device's session ends after this number of days without use; 0 = never.
    public var sessionDays = 90
  }

  /// `limits.*`: the limits of clients; 0 = no limit.
  public struct Limits: Equatable, Sendable {
    /// Concurrent connections.
    public var connections = 100_000
    /// Concurrent connections from one address.
    public var connectionsPerAddress = 1000
    /// Concurrent unauthenticated connections from one address.
    public var unauthenticatedPerAddress = 50
    /// TLS handshakes and requests per second of one address that stay unauthenticated, and at once.
    public var unauthenticatedPerSecond = 200
    /// The time from accept to the end of the opening handshake.
    public var handshakeTimeoutMilliseconds = 5000
    /// The size of an HTTP request's request line and headers.
    public var headerBytes = 8192
    /// The number of header lines of an HTTP request.
    public var headerLines = 100
    /// The number of frames in one message.
    public var messageFragments = 1024
    /// Pings and pongs per second on one connection; more close it.
    public var controlFramesPerSecond = 100
    /// The limits of a session and of its user.
    public var shard = Shard.Limits()
    /// The limits of the changes of one entry.
    public var entry = EntryLimits()
    /// Attempts to sign in per minute and address.
    public var signInsPerMinute = 30
    /// The number of rooms that a user may belong to.
    public var roomsPerUser = 10_000
    /// The size of one file.
    public var fileBytes = 26_214_400
    /// Bytes of uploads per second of one user; beyond it they are slowed.
    public var fileBytesPerSecond = 8_388_608
    /// Uploads of one user that are not complete.
    public var uploadsPerUser = 20
    /// The size of a user's files and uploads.
    public var filesBytesPerUser: Int {
      get { Int(entry.fileBytesPerUser) }
      set { entry.fileBytesPerUser = Int64(newValue) }
    }
    /// Closes a connection that has neither received a byte nor sent a queued one for this long.
    public var idleTimeoutSeconds = 60
  }

  /// `files.*`: the files that users upload; 0 = no limit.
  public struct Files: Equatable, Sendable {
    /// The size of all of them.
    public var bytes = 0
    /// How many bytes of the disk stay free.
    public var minimumFreeBytes = 0
    /// Those of all uploads.
    public var bytesPerSecond = 8_388_608
    /// The name at which browsers get files, perhaps with a port; empty = where they get the page.
    public var host = ""
    public var s3 = S3()

    /// `files.s3.*`: the bucket that has the bytes, instead of the data folder.
    public struct S3: Equatable, Sendable {
      /// Empty = Amazon's.
      public var endpoint = ""
      /// Empty = none.
      public var bucket = ""
      public var region = "us-east-1"

      /// The size of the largest file: 10,000 parts of 16 MiB.
      package static let objectBytes = 10_000 * (16 << 20)
    }
  }

  /// `metrics.*`: access to the metrics.
  public struct Metrics: Equatable, Sendable {
    /// A bearer token that grants access to `/metrics`; empty = none.
    public var token = ""
  }

  /// `delivery.*`: batching of new entries; a write costs as much as many entries.
  public struct Delivery: Equatable, Sendable {
    /// Committed entries wait once for entries of their room whose commit is in progress.
    public var hold = true
    /// A room's next fan-out waits as long as its last one took, at most this long; 0 = never.
    public var pacingMaxMilliseconds = 5
  }

  /// `compression.*`: permessage-deflate (RFC 7692), for clients that offer it.
  public struct Compression: Equatable, Sendable {
    /// Whether the extension is negotiated.
    public var enabled = true
    /// Messages with fewer bytes are sent uncompressed.
    public var minimumBytes = 256
  }

  /// `debug.*`: options for tests and benchmarks.
  public struct Debug: Equatable, Sendable {
    /// Serves a plain WebSocket echo at `/echo`.
    public var echo = false
    /// Delays every acknowledgement by this time.
    public var commitDelayMilliseconds = 0
  }

  /// Who may create rooms.
  public enum RoomCreation: String, CaseIterable, Sendable {
    /// Any user, by joining the room or sending to it.
    case anyone
    /// No user: only the listed rooms exist, besides direct messages.
    case listed
  }

  /// Whether direct messages of strangers are requests.
  public enum RoomRequests: String, CaseIterable, Sendable {
    /// Unless `auth.mode` is `open`, where any name may be that of any person.
    case auto
    case yes = "true"
    case no = "false"
  }

  /// `rooms.*`: listed rooms and room creation.
  public struct Rooms: Equatable, Sendable {
    /// Who may create rooms.
    public var create = RoomCreation.anyone
    /// Whether direct messages of users who are not known to the recipient wait as requests.
    public var requests = RoomRequests.auto
    /// The rooms that every user is shown.
    public var listed = [ListedRoom(room: "general", title: "General")]
  }

  /// A room that every user is shown.
  public struct ListedRoom: Equatable, Sendable {
    /// Its name in the protocol.
    public var room: String
    /// Its display name.
    public var title: String

    /// Creates a listed room from its name and display name.
    public init(room: String, title: String) {
      self.room = room
      self.title = title
    }
  }

  /// The source of the user directory.
  public enum DirectoryKind: String, CaseIterable, Sendable {
    /// A file.
    case local
    case github
    case x
  }

  /// `directory.*`: the people that every user is shown.
  public struct Directory: Equatable, Sendable {
    /// The source of the list.
    public var kind = DirectoryKind.local
    /// The file of kind `local`.
    public var file = Directory.defaultFile
    /// GitHub: `org:…`, `followers:…`, `following:…` or `users`; X: `followers:…`.
    public var source = ""
    /// The URL of the API; empty = the service's default.
    public var baseURL = ""
    /// The token for GitHub; empty = none.
    public var token = ""
    /// A command that prints such a token; empty = none.
    public var tokenCommand = ""
    /// The version of X's API.
    public var api = XVersion.v2
    /// The key of an X application.
    public var key = ""
    /// The secret of that key.
    public var secret = ""
    /// The time between two reads of a service's list; 0 = the default of the kind.
    public var refreshSeconds = 0
    /// The maximum number of people of a service's list.
    public var peopleLimit = 10_000
    /// Whether pictures may be fetched from this machine and private networks.
    public var allowsPrivateAvatars = false

    /// The default file, which may be missing.
    package static let defaultFile = "config/people.yaml"
  }

  /// `people.*`: the users who are listed besides the directory's people and the bots.
  public struct People: Equatable, Sendable {
    /// Whether all users who have connected are listed.
    public var seen = true
  }

  /// Command-line options, which override all other sources.
  public struct Overrides: Equatable, Sendable {
    /// `--listen`.
    public var listen: String?
    /// `--data`.
    public var data: String?
    /// `--no-web`.
    public var noWeb = false

    /// Creates overrides from the given flags.
    public init(listen: String? = nil, data: String? = nil, noWeb: Bool = false) {
      self.listen = listen
      self.data = data
      self.noWeb = noWeb
    }
  }

  /// Reads the configuration: flags override the environment, which overrides the file, which
  /// overrides the defaults.
  ///
  /// Reads the file, and the one that `bots_file` names, with blocking calls; relative paths start
  /// at the working directory. Only variables of `environment` whose names begin with `RELAY_` are
  /// used.
  /// - Throws: all errors, not only the first one.
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
    reader.adoptOrganization()
    reader.checkWhole()
    guard reader.problems.isEmpty else { throw ConfigurationError(problems: reader.problems) }
    return reader.configuration
  }
}
