public import Relay
internal import Synchronization
public import Platform

/// A directory that reads people from a service on the network, page by page, on a thread of its
/// own.
///
/// The list is read again after `refreshMilliseconds`, with a conditional request for each page.
/// Rate limits are waited for, and failures retried with a growing delay, without reading pages
/// again. With a folder, the last valid list, its ETags, the rate limits and X's token survive a
/// restart.
///
/// `start` must be called once; `stop` must not be called from `publish`.
public final class RemoteDirectory: Directory {
  /// Options that apply to every service.
  public struct Options: Sendable {
    /// The interval at which the list is read again.
    public var refreshMilliseconds: Int64 = 3_600_000
    /// The maximum number of people; the rest of the list is not read.
    public var peopleLimit = 10_000
    /// The `User-Agent`, which GitHub requires.
    public var userAgent = "relay"
    /// An existing folder for persistent state; `nil` persists nothing.
    public var folder: String?
    public var connectTimeoutMilliseconds = 10_000
    /// From the start of a request to the end of its response.
    public var requestTimeoutMilliseconds = 30_000
    /// The delay before a failure is retried; doubled each time up to the maximum.
    public var retryMilliseconds: ClosedRange<Int64> = 10_000...3_600_000
    /// The wait for a rate limit without an end time; doubled each time up to the maximum.
    public var unknownLimitMilliseconds: ClosedRange<Int64> = 60_000...3_600_000
    /// Added to the end of a rate limit, since clocks differ and services count in seconds.
    public var limitSlackMilliseconds: Int64 = 1000
    /// Which addresses other origins may have; replaced by tests.
    var mayConnect: @Sendable (PeerAddress) -> Bool = \.isPublic

    /// The defaults.
    public init() {}
  }

  private let run: Mutex<RemoteRun?>
  private let empty: PeopleList
  private let stopSignal: StopSignal
  private let thread = Mutex<WorkerThread?>(nil)
  private let report: @Sendable (String) -> Void

  /// A directory of members, followers or all users, from GitHub's REST API.
  ///
  /// - Parameters:
  ///   - baseURL: `https://api.github.com`, or the API URL of an Enterprise Server.
  ///   - report: receives details for the operator that are not part of the published problem, as a
  ///     sentence; on the directory's thread.
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

  /// A directory of an account's followers, from X's API.
  ///
  /// - Parameters:
  ///   - baseURL: `https://api.x.com`.
  ///   - key: an application's key, which with its secret is exchanged for a token that is kept.
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

/// The parts of a `DirectoryRefresher`.
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
  /// The value of `directory.source`.
  public var description: String {
    switch self {
    case .members(let organisation): "org:\(organisation)"
    case .followers(let user): "followers:\(user)"
    case .following(let user): "following:\(user)"
    case .users: "users"
    }
  }
}
