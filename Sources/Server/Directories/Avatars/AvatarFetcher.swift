internal import DequeModule
internal import Platform
internal import Relay

/// A message to the cache's thread.
enum AvatarOrder: Sendable {
  case fetch(user: String, url: String)
  case stop
}

/// Fetches pictures, several at a time. Confined to the cache's thread.
final class AvatarFetcher {
  private let options: AvatarCache.Options
  private let orders: Mailbox<AvatarOrder>
  private let client: WebClient
  private var queue = Deque<(user: String, url: String)>()
  private var running: [ObjectIdentifier: (user: String, url: String)] = [:]
  private var inbox: [AvatarOrder] = []

  /// The longest wait without work.
  private static let idleMilliseconds: Int32 = 60_000

  init(_ options: AvatarCache.Options, _ orders: Mailbox<AvatarOrder>) {
    self.options = options
    self.orders = orders
    let (allowsPrivate, mayConnect) = (options.allowsPrivateAddresses, options.mayConnect)
    var web = WebOptions(
      WebReach(origins: options.origins) { allowsPrivate || mayConnect($0) })
    web.userAgent = options.userAgent
    web.connectTimeoutMilliseconds = options.connectTimeoutMilliseconds
    web.timeoutMilliseconds = options.timeoutMilliseconds
    client = WebClient(web, wakeDescriptor: orders.descriptor)
  }

  /// Works until it receives `stop`.
  func work(deliver: (_ user: String, _ url: String, Avatar?) -> Void) {
    while takeOrders() {
      while running.count < options.transferLimit, let next = queue.popFirst() {
        begin(next)
      }
      for (transfer, outcome) in client.wait(milliseconds: Self.idleMilliseconds) {
        guard let fetch = running.removeValue(forKey: ObjectIdentifier(transfer)) else { continue }
        deliver(fetch.user, fetch.url, (try? outcome.get()).flatMap(picture))
      }
    }
  }

  /// - Returns: whether to continue.
  private func takeOrders() -> Bool {
    orders.drain(into: &inbox)
    for order in inbox {
      switch order {
      case .fetch(let user, let url): queue.append((user, url))
      case .stop: return false
      }
    }
    return true
  }

  private func begin(_ fetch: (user: String, url: String)) {
    var request = WebRequest(url: fetch.url)
    request.headers = ["Accept: image/avif, image/webp, image/png, image/jpeg, image/gif"]
    request.limitBytes = options.pictureLimitBytes
    running[ObjectIdentifier(client.start(request))] = fetch
  }

  private func picture(_ answer: WebAnswer) -> Avatar? {
    let field = answer.headers["content-type"] ?? ""
    let type = field.prefix { $0 != ";" }.trimmed.lowercased()
    guard answer.status == 200, AvatarCache.contentTypes.contains(type), !answer.body.isEmpty
    else { return nil }
    return Avatar(contentType: type, bytes: answer.body)
  }
}
