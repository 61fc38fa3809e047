import HeapModule
import Relay

/// The uploads of users who have sent too much, each with the time at which it goes on.
///
/// A sweep is too rare for that: between two of them, each user earns a quarter of a second's bytes, and all would send them
/// at once, before the messages of others (LoadTests/results/files.md).
struct PacedUploads {
  private struct Item: Comparable {
    /// Milliseconds of the monotonic clock.
    var at: Int64
    var exchange: ExchangeID

    static func < (left: Item, right: Item) -> Bool { left.at < right.at }
  }

  private var items = Heap<Item>()

  var next: Int64? { items.min?.at }

  mutating func insert(_ exchange: ExchangeID, at: Int64) {
    items.insert(Item(at: at, exchange: exchange))
  }

  mutating func take(_ now: Int64) -> ExchangeID? {
    guard let next, next <= now else { return nil }
    return items.removeMin().exchange
  }
}

extension ConnectionLoop {
  /// When the next of them goes on, in microseconds of the monotonic clock.
  var nextUpload: Int64? { pacedUploads.next.map { $0 * 1000 } }

  /// Reads on where the time has come. One that has ended is not found.
  func continueUploads() {
    while let id = pacedUploads.take(now.monotonic) { exchange(id)?.sweep() }
  }
}
