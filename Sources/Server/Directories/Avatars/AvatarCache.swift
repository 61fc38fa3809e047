public import Platform
internal import Synchronization

/// A picture of somebody.
public struct Avatar: Equatable, Sendable {
  /// One of `AvatarCache.contentTypes`.
  public var contentType: String
  public var bytes: [UInt8]
}

/// People's pictures, fetched from wherever they are and kept in memory, so that a browser asks
/// nobody but the relay.
///
/// A picture is fetched when somebody asks for it, once however many ask, on a thread of the
/// cache's. Bounded in every respect: the size of a picture, all pictures together, how many are
/// fetched at once and how many wait. What cannot be had is remembered for a while as well.
public final class AvatarCache: Sendable {
  /// What a cache may cost.
  public struct Options: Sendable {
    /// Of one picture.
    public var pictureLimitBytes = 512 << 10
    /// Of all together; those that were not asked for longest give way.
    public var limitBytes = 32 << 20
    /// After that a picture is fetched again when it is asked for.
    public var lifetimeMilliseconds: Int64 = 24 * 3_600_000
    /// After that what could not be had is tried again when it is asked for.
    public var failureLifetimeMilliseconds: Int64 = 5 * 60_000
    /// People of whom something is known, be it that there is no picture.
    public var peopleLimit = 10_000
    /// Fetched at once.
    public var transferLimit = 8
    /// Who wait for a fetch; more are told at once that there is no picture.
    public var waiterLimit = 1000
    public var userAgent = "relay"
    public var connectTimeoutMilliseconds = 5000
    public var timeoutMilliseconds = 10_000
    /// Whether a picture may come from this machine or a private network. Where it is is said by
    /// strangers, and the relay may reach what they cannot.
    public var allowsPrivateAddresses = false
    /// Of the addresses that are connected to, for tests.
    var mayConnect: @Sendable (PeerAddress) -> Bool = \.isPublic

    /// The defaults.
    public init() {}

    /// The defaults, for a relay that calls itself so.
    public init(userAgent: String) { self.userAgent = userAgent }
  }

  /// Pictures without anything that a browser could run: SVG, which has scripts, is none of them.
  public static let contentTypes: Set<String> = [
    "image/png", "image/jpeg", "image/gif", "image/webp", "image/avif",
  ]

  /// Called once with the picture, or `nil` where there is none for now.
  public typealias Completion = @Sendable (Avatar?) -> Void

  private let state: Mutex<AvatarCacheState>
  private let orders: Mailbox<AvatarOrder>
  private let thread = Mutex<WorkerThread?>(nil)
  private let options: Options

  /// An empty cache, whose thread is started by the first fetch.
  public init(_ options: Options = Options()) throws(SystemError) {
    self.options = options
    state = Mutex(AvatarCacheState(options))
    orders = try Mailbox()
  }

  /// The picture of a user.
  ///
  /// May be called on any thread, and does not block.
  /// - Parameters:
  ///   - url: where it is, as the directory says; another one than before is fetched anew.
  ///   - completion: called on this thread, before the call returns, where the answer is known;
  ///     otherwise later on the cache's, where it must not block.
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

  /// Ends all fetches: who waits is told that there is no picture, and so is who asks later. Not to
  /// be called from a completion.
  public func stop() {
    state.withLock { $0.close() }
    orders.post(.stop)
    thread.withLock { $0.take() }?.join()
    for completion in state.withLock({ $0.takeAllWaiters() }) { completion(nil) }
  }

  // Not joined: the last one to let go of it may be its own thread.
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
        // Nobody waits for what cannot be fetched; the next one who asks tries again.
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
