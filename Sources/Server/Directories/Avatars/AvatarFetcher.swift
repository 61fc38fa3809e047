internal import DequeModule
internal import Platform
internal import Relay

/// A message to the thread that fetches.
enum AvatarOrder: Sendable {
  case fetch(user: String, url: String)
  /// A picture that was fetched is no longer in memory.
  case converted
  case stop
}

/// Fetches pictures, several at a time, and hands them over. Confined to a thread of the cache.
final class AvatarFetcher {
  private let options: AvatarCache.Options
  private let orders: Mailbox<AvatarOrder>
  private let fetched: WorkQueue<FetchedPicture>
  private let client: WebClient
  private var queue = Deque<(user: String, url: String)>()
  private var running: [ObjectIdentifier: (user: String, url: String)] = [:]
  private var inbox: [AvatarOrder] = []
  /// How many pictures are being converted, or wait for it.
  private var converting = 0

  /// The longest wait without work.
  private static let idleMilliseconds: Int32 = 60_000

  init(
    _ options: AvatarCache.Options, _ orders: Mailbox<AvatarOrder>,
    _ fetched: WorkQueue<FetchedPicture>
  ) {
    self.options = options
    self.orders = orders
    self.fetched = fetched
    let (allowsPrivate, mayConnect) = (options.allowsPrivateAddresses, options.mayConnect)
    var web = WebOptions(
      WebReach(origins: options.origins) { allowsPrivate || mayConnect($0) })
    web.userAgent = options.userAgent
    web.connectTimeoutMilliseconds = options.connectTimeoutMilliseconds
    web.timeoutMilliseconds = options.timeoutMilliseconds
    client = WebClient(web, wakeDescriptor: orders.descriptor)
  }

  /// Works until it receives `stop`.
  /// - Parameter fail: called for a user whose picture there is none of.
  func work(fail: (_ user: String, _ url: String) -> Void) {
    while takeOrders() {
      while running.count + converting < options.transferLimit, let next = queue.popFirst() {
        begin(next)
      }
      for (transfer, outcome) in client.wait(milliseconds: Self.idleMilliseconds) {
        guard let fetch = running.removeValue(forKey: ObjectIdentifier(transfer)) else { continue }
        guard let answer = try? outcome.get(), answer.status == 200, !answer.body.isEmpty else {
          fail(fetch.user, fetch.url)
          continue
        }
        converting += 1
        fetched.append(FetchedPicture(user: fetch.user, url: fetch.url, bytes: answer.body))
      }
    }
  }

  /// - Returns: whether to continue.
  private func takeOrders() -> Bool {
    orders.drain(into: &inbox)
    for order in inbox {
      switch order {
      case .fetch(let user, let url): queue.append((user, url))
      case .converted: converting -= 1
      case .stop: return false
      }
    }
    return true
  }

  private func begin(_ fetch: (user: String, url: String)) {
    var request = WebRequest(url: fetch.url)
    request.headers = ["Accept: image/webp, image/png, image/jpeg"]
    request.limitBytes = options.pictureLimitBytes
    running[ObjectIdentifier(client.start(request))] = fetch
  }
}
