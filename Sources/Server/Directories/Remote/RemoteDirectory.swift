public import Relay
internal import Synchronization
public import Platform

/// People from a service on the network, read page by page on a thread of its own.
///
/// A list that was read is asked for again after `refreshMilliseconds`, page by page, each on condition
/// that it has changed. A limit is waited for, and a failure tried again with a growing delay; what
/// was read until then is not read again. With a folder, the last good list, its ETags, the limits
/// and X's token outlive the process.
///
/// `start` is to be called once, `stop` not from within `publish`.
public final class RemoteDirectory: Directory {
  /// What holds for every service.
  public struct Options: Sendable {
    /// After this a list is asked for again.
    public var refreshMilliseconds: Int64 = 3_600_000
    /// The list ends there, however many there are.
    public var peopleLimit = 10_000
    /// As the services see the relay; GitHub insists on one.
    public var userAgent = "relay"
    /// An existing folder for what outlives the process; `nil` keeps nothing.
    public var folder: String?
    public var connectTimeoutMilliseconds = 10_000
    /// From the start of a request to the end of its answer.
    public var requestTimeoutMilliseconds = 30_000
    /// Before a failure is tried again; doubled each time up to the longest.
    public var retryMilliseconds: ClosedRange<Int64> = 10_000...3_600_000
    /// A limit of which the service does not say when it ends; doubled each time up to the longest.
    public var unknownLimitMilliseconds: ClosedRange<Int64> = 60_000...3_600_000
    /// Waited beyond the end of a limit, since clocks differ and services count in seconds.
    public var limitSlackMilliseconds: Int64 = 1000

    /// The defaults.
    public init() {}
  }

  private let run: Mutex<RemoteRun?>
  private let empty: PeopleList
  private let stopSignal: StopSignal
  private let thread = Mutex<WorkerThread?>(nil)
  private let report: @Sendable (String) -> Void

  /// Members, followers, or everyone, by GitHub's REST interface.
  ///
  /// - Parameters:
  ///   - baseURL: `https://api.github.com`, or where an Enterprise Server has its interface.
  ///   - report: told, in a sentence for the operator, what goes beyond the problem that is
  ///     published; on the directory's thread.
  public static func gitHub(
    _ source: GitHubSource, baseURL: String, token: TokenSource, options: Options = Options(),
    report: @escaping @Sendable (String) -> Void
  ) throws(SystemError) -> RemoteDirectory {
    let base = trimmedBase(baseURL)
    return try RemoteDirectory(
      GitHubService(base: base, source: source), GitHubService.manners, base: base,
      source: source.description, identity: "github \(base) \(source)",
      credentials: { _ in ConfiguredToken(token) }, options, report)
  }

  /// Followers of an account, by X's interface.
  ///
  /// - Parameters:
  ///   - baseURL: `https://api.x.com`.
  ///   - key: and its secret belong to an application; its token is asked for and kept.
  ///   - report: as for GitHub.
  public static func x(
    followersOf account: String, version: XVersion, baseURL: String, key: String, secret: String,
    options: Options = Options(), report: @escaping @Sendable (String) -> Void
  ) throws(SystemError) -> RemoteDirectory {
    let base = trimmedBase(baseURL)
    return try RemoteDirectory(
      XService(base: base, account: account, version: version), XService.manners, base: base,
      source: "followers:\(account)", identity: "x \(version.rawValue) \(base) \(account)",
      credentials: { XCredentials(base: base, key: key, secret: secret, store: $0) },
      options, report)
  }

  private init(
    _ service: any RemoteService, _ manners: ServiceManners, base: String, source: String,
    identity: String, credentials: (DirectoryStore?) -> any Credentials & Sendable,
    _ options: Options, _ report: @escaping @Sendable (String) -> Void
  ) throws(SystemError) {
    guard let address = WebAddress(base) else {
      preconditionFailure("the base URL is http or https")
    }
    stopSignal = try StopSignal()
    empty = PeopleList([], source: source, asOf: 0)
    self.report = report
    let store = options.folder.map { DirectoryStore(folder: $0, report: report) }
    run = Mutex(
      RemoteRun(
        service: service, manners: manners, base: address, source: source, identity: identity,
        credentials: credentials(store), options: options, store: store, stop: stopSignal,
        report: report))
  }

  private static func trimmedBase(_ url: String) -> String {
    url.hasSuffix("/") ? String(url.dropLast()) : url
  }

  public func start(publish: @escaping @Sendable (DirectoryUpdate) -> Void) {
    guard let run = run.withLock({ $0.take() }) else { preconditionFailure("started twice") }
    do throws(SystemError) {
      let thread = try WorkerThread(name: "directory") {
        DirectoryRefresher(run, publish: publish).work()
      }
      self.thread.withLock { $0 = thread }
    } catch {
      report("The directory cannot start: \(error).")
      publish(
        DirectoryUpdate(
          people: empty, problem: .failed("The directory cannot start.", support: nil)))
    }
  }

  public func stop() {
    stopSignal.raise()
    thread.withLock { $0.take() }?.join()
  }

  deinit { stop() }
}

/// All that a refresher is made of.
struct RemoteRun: Sendable {
  var service: any RemoteService
  var manners: ServiceManners
  var base: WebAddress
  var source: String
  var identity: String
  var credentials: any Credentials & Sendable
  var options: RemoteDirectory.Options
  var store: DirectoryStore?
  var stop: StopSignal
  var report: @Sendable (String) -> Void
}

extension GitHubSource: CustomStringConvertible {
  /// As in a configuration.
  public var description: String {
    switch self {
    case .members(let organisation): "org:\(organisation)"
    case .followers(let user): "followers:\(user)"
    case .following(let user): "following:\(user)"
    case .users: "users"
    }
  }
}
