public import Platform
public import Relay
internal import Synchronization

/// Fetches users' pictures from their URLs and caches them in memory, so that a browser connects to
/// no host but the relay.
///
/// A picture is fetched on demand, once for all pending requests, on the cache's thread. Everything
/// is bounded: the size of a picture and of all pictures together, the number of concurrent fetches
/// and of pending requests. Failures are cached for a while, too.
public final class AvatarCache: Sendable {
  /// The limits of a cache.
  public struct Options: Sendable {
    /// The maximum size of one picture.
    public var pictureLimitBytes = 512 << 10
    /// The maximum size of all pictures; the least recently used are evicted.
    public var limitBytes = 32 << 20
    /// How long a picture is cached; the next request after that fetches it again.
    public var lifetimeMilliseconds: Int64 = 24 * 3_600_000
    /// How long a failure is cached; the next request after that tries again.
    public var failureLifetimeMilliseconds: Int64 = 5 * 60_000
    /// The maximum number of users in the cache, including those without a picture.
    public var peopleLimit = 10_000
    /// The maximum number of concurrent fetches.
    public var transferLimit = 8
    /// The maximum number of pending requests; further requests are answered with no picture.
    public var waiterLimit = 1000
    public var userAgent = "relay"
    public var connectTimeoutMilliseconds = 5000
    public var timeoutMilliseconds = 10_000
    /// Whether pictures may be fetched from this machine or a private network. Third parties choose
    /// the URLs, and the relay can reach hosts that they cannot.
    public var allowsPrivateAddresses = false
    /// The origins of services that the operator has configured, which may have any address.
    var origins: Set<String> = []
    /// Whether an address may be connected to; replaced by tests.
    var mayConnect: @Sendable (PeerAddress) -> Bool = \.isPublic

    /// The defaults.
    public init() {}

    /// The defaults with another `User-Agent`.
    /// - Parameter services: the URLs of the services that the operator has configured.
    public init(userAgent: String, services: some Sequence<String>) {
      self.userAgent = userAgent
      origins = Set(services.compactMap { WebAddress($0)?.origin })
    }
  }

  /// Picture formats without active content; SVG is excluded because it can contain scripts.
  public static let contentTypes: Set<String> = [
    "image/png", "image/jpeg", "image/gif", "image/webp", "image/avif",
  ]

  /// Called once with the picture, or with `nil` if none is available now.
  public typealias Completion = @Sendable (Avatar?) -> Void

  private let state: Mutex<AvatarCacheState>
  private let orders: Mailbox<AvatarOrder>
  private let thread = Mutex<WorkerThread?>(nil)
  private let options: Options

  /// Creates an empty cache; the first fetch starts its thread.
  public init(_ options: Options = Options()) throws(SystemError) {
    self.options = options
    state = Mutex(AvatarCacheState(options))
    orders = try Mailbox()
  }

  /// Returns the picture of a user to `completion`.
  ///
  /// Thread-safe; does not block.
  /// - Parameters:
  ///   - url: the picture's URL in the directory; if it has changed, the picture is fetched again.
  ///   - completion: called on this thread before the call returns if the result is cached; later
  ///     on the cache's thread otherwise, where it must not block.
  public func avatar(for user: String, url: String, completion: @escaping Completion) {
    guard WebAddress(url) != nil else { return completion(nil) }
    let now = WallClock.milliseconds
    switch state.withLock({ $0.ask(for: user, url, now: now, completion) }) {
    case .known(let avatar): completion(avatar)
    case .waits: break
    case .fetch:
      orders.post(.fetch(user: user, url: url))
      startThread()
    }
  }

  /// Ends all fetches: pending and later requests are answered with no picture. Must not be called
  /// from a completion.
  public func stop() {
    state.withLock { $0.close() }
    orders.post(.stop)
    thread.withLock { $0.take() }?.join()
    for completion in state.withLock({ $0.takeAllWaiters() }) { completion(nil) }
  }

  // Not joined: the last reference may be released on that very thread.
  deinit { orders.post(.stop) }

  private func startThread() {
    thread.withLock { thread in
      guard thread == nil, !state.withLock({ $0.isClosed }) else { return }
      let (options, orders) = (options, orders)
      do throws(SystemError) {
        thread = try WorkerThread(name: "avatars") { [weak self] in
          AvatarFetcher(options, orders).work { self?.deliver($2, for: $0, $1) }
        }
      } catch {
        // The pending requests fail; the next request tries to start the thread again.
        var inbox: [AvatarOrder] = []
        orders.drain(into: &inbox)
        for case .fetch(let user, let url) in inbox { deliver(nil, for: user, url) }
      }
    }
  }

  private func deliver(_ avatar: Avatar?, for user: String, _ url: String) {
    let now = WallClock.milliseconds
    let (avatar, waiters) = state.withLock { $0.put(avatar, for: user, url, now: now) }
    for completion in waiters { completion(avatar) }
  }
}
