import Client
import Pictures
import Platform
import Wire

/// Loads pictures in a thread of its own, one after the other.
final class PictureLoader<Key: Hashable & Sendable> {
  typealias Work = @Sendable () -> Picture?

  /// How many may wait; one beyond it is asked for again by a later frame.
  private let waitingLimit = 64
  /// How many are asked for in one run.
  private let requestsLimit = 1000

  private enum Order: Sendable {
    case load(Key, Work)
    case end
  }

  /// What was loaded; `nil` for no picture.
  typealias Result = (key: Key, picture: Picture?)

  private let orders: Mailbox<Order>
  private let results: Mailbox<Result>
  private var watch: Watch?
  private var thread: WorkerThread?
  /// What was asked for.
  private var asked: Set<Key> = []
  private var requests = 0
  private var waiting = 0

  /// - Parameter loaded: Called when results can be taken.
  init(on dispatcher: Dispatcher, loaded: @escaping () -> Void) throws(SystemError) {
    let (orders, results) = (try Mailbox<Order>(), try Mailbox<Result>())
    (self.orders, self.results) = (orders, results)
    watch = try Watch(results.descriptor, on: dispatcher) { _ in loaded() }
    thread = try WorkerThread(name: "pictures") {
      var posted: [Order] = []
      while true {
        _ = orders.wait(timeoutMilliseconds: -1)
        orders.drain(into: &posted)
        for order in posted {
          guard case .load(let key, let work) = order else { return }
          results.post((key, work()))
        }
      }
    }
  }

  /// Asks for a picture, once.
  /// - Parameter work: Loads it, and may block.
  func load(_ key: Key, _ work: @escaping Work) {
    guard waiting < waitingLimit, requests < requestsLimit, asked.insert(key).inserted else {
      return
    }
    waiting += 1
    requests += 1
    orders.post(.load(key, work))
  }

  /// Allows to ask for one again.
  func forget(_ key: Key) { asked.remove(key) }

  func takeResults() -> [Result] {
    var news: [Result] = []
    results.drain(into: &news)
    waiting -= news.count
    return news
  }

  /// Does not wait for a request that is in progress: the process ends.
  func end() { orders.post(.end) }
}
