import Client
import Pictures
import Platform
import Wire

/// Loads pictures of people in a thread of its own, one after the other: from the disk, or from the
/// relay.
final class PictureLoader {
  /// The pixels of a side: as many as four by two cells of a usual terminal have.
  static let side = 64
  /// How many may wait; a person beyond it is asked for again by a later frame.
  static let waitingLimit = 64
  /// How many are asked for in one run.
  static let requestsLimit = 1000

  private enum Order: Sendable {
    case load(String, PictureRequest)
    case end
  }

  /// What is known of a person; `nil` for no picture.
  typealias Result = (person: String, picture: Picture?)

  private let orders: Mailbox<Order>
  private let results: Mailbox<Result>
  private var watch: Watch?
  private var thread: WorkerThread?
  /// Whoever was asked for.
  private var asked: Set<String> = []
  private var requests = 0
  private var waiting = 0

  /// - Parameter loaded: Called when results can be taken.
  init(
    stateFolder: String, on dispatcher: Dispatcher, loaded: @escaping () -> Void
  ) throws(SystemError) {
    let (orders, results) = (try Mailbox<Order>(), try Mailbox<Result>())
    (self.orders, self.results) = (orders, results)
    watch = try Watch(results.descriptor, on: dispatcher) { _ in loaded() }
    thread = try WorkerThread(name: "pictures") {
      let cache = PictureCache(stateFolder: stateFolder, side: Self.side)
      var posted: [Order] = []
      while true {
        _ = orders.wait(timeoutMilliseconds: -1)
        orders.drain(into: &posted)
        for order in posted {
          guard case .load(let person, let request) = order else { return }
          results.post((person, Self.load(person, request, cache)))
        }
      }
    }
  }

  private static func load(
    _ person: String, _ request: PictureRequest, _ cache: PictureCache
  ) -> Picture? {
    let key = "\(request.relay.url) \(person)"
    if let picture = cache.picture(for: key) { return picture }
    guard let bytes = request.picture(of: person),
      let decoded = try? PNG.decode(bytes)
    else { return nil }
    let picture = decoded.square(side)
    cache.keep(picture, for: key)
    return picture
  }

  /// Asks for the picture of a person, once.
  func load(_ person: String, _ request: PictureRequest) {
    guard UserName.isValid(person), waiting < Self.waitingLimit, requests < Self.requestsLimit,
      asked.insert(person).inserted
    else { return }
    waiting += 1
    requests += 1
    orders.post(.load(person, request))
  }

  /// Allows to ask for a person again.
  func forget(_ person: String) { asked.remove(person) }

  func takeResults() -> [Result] {
    var news: [Result] = []
    results.drain(into: &news)
    waiting -= news.count
    return news
  }

  /// Does not wait for a request that is in progress: the process ends.
  func end() { orders.post(.end) }
}
