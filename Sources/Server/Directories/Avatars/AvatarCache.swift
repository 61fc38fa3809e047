public import Platform
public import Relay
internal import Synchronization

/// Fetches users' pictures from their URLs and caches what is made of them in memory, so that a browser connects to
/// no host but the relay, and gets no byte that a stranger has chosen.
///
/// A picture is fetched on demand, once for all pending requests, on one of the cache's threads, and converted on the
/// other one. Everything is bounded: the size of a picture and of all pictures together, the number of pictures that are
/// being fetched and converted, and of pending requests. Failures are cached for a while, too.
public final class AvatarCache: Sendable {
  /// The limits of a cache.
  public struct Options: Sendable {
    /// The maximum size of one picture, as it is fetched.
    public var pictureLimitBytes = 512 << 10
    /// The maximum size of all pictures, as they are served; the least recently used are evicted.
    public var limitBytes = 32 << 20
    /// How long a picture is cached; the next request after that fetches it again.
    public var lifetimeMilliseconds: Int64 = 24 * 3_600_000
    /// How long a failure is cached; the next request after that tries again.
    public var failureLifetimeMilliseconds: Int64 = 5 * 60_000
    /// The maximum number of users in the cache, including those without a picture.
    public var peopleLimit = 10_000
    /// The maximum number of pictures that are being fetched, or wait for their conversion.
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
    let convert: Conversion

    /// The defaults with another `User-Agent`.
    /// - Parameters:
    ///   - services: the URLs of the services that the operator has configured.
    ///   - convert: called on a thread of the cache.
    public init(
      userAgent: String = "relay", services: some Sequence<String> = [],
      convert: @escaping Conversion
    ) {
      self.userAgent = userAgent
      self.convert = convert
      origins = Set(services.compactMap { WebAddress($0)?.origin })
    }
  }

  /// Makes the PNG that is served of a picture, whose bytes are of a stranger; `nil` if it is none. May block for seconds.
  public typealias Conversion = @Sendable ([UInt8]) -> [UInt8]?

  /// Called once with the picture, or with `nil` if none is available now.
  public typealias Completion = @Sendable (Avatar?) -> Void

  private let state: Mutex<AvatarCacheState>
  private let orders: Mailbox<AvatarOrder>
  private let fetched = WorkQueue<FetchedPicture>()
  private let threads = Mutex<(fetcher: WorkerThread?, converter: WorkerThread?)>((nil, nil))
  private let options: Options

  /// Creates an empty cache; the first fetch starts its threads.
  public init(_ options: Options) throws(SystemError) {
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
  ///     on a thread of the cache otherwise, where it must not block.
  public func avatar(for user: String, url: String, completion: @escaping Completion) {
    guard WebAddress(url) != nil else { return completion(nil) }
    let now = WallClock.milliseconds
    switch state.withLock({ $0.ask(for: user, url, now: now, completion) }) {
    case .known(let avatar): completion(avatar)
    case .waits: break
    case .fetch:
      orders.post(.fetch(user: user, url: url))
      startThreads()
    }
  }

  /// Ends all fetches: pending and later requests are answered with no picture. Must not be called
  /// from a completion.
  public func stop() {
    state.withLock { $0.close() }
    orders.post(.stop)
    fetched.close()
    // The other one is not waited for: a conversion lasts for seconds.
    threads.withLock { $0.fetcher.take() }?.join()
    for completion in state.withLock({ $0.takeAllWaiters() }) { completion(nil) }
  }

  // Not joined: the last reference may be released on that very thread.
  deinit {
    orders.post(.stop)
    fetched.close()
  }

  private func startThreads() {
    threads.withLock { threads in
      guard threads.fetcher == nil, !state.withLock({ $0.isClosed }) else { return }
      let (options, orders, fetched) = (options, orders, fetched)
      do throws(SystemError) {
        if threads.converter == nil {
          threads.converter = try WorkerThread(name: "avatars-convert") { [weak self] in
            AvatarConverter(convert: options.convert, pictures: fetched, orders: orders)
              .work { self?.deliver($2, for: $0, $1) }
          }
        }
        threads.fetcher = try WorkerThread(name: "avatars") { [weak self] in
          AvatarFetcher(options, orders, fetched).work { self?.deliver(nil, for: $0, $1) }
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
