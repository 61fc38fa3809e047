import Relay
import Testing

@testable import Gateway

/// Users who upload as fast as they may, a block at a time.
@Suite struct `The bytes of all uploads` {
  private static let block = 65_536
  private static let perUser = 8 << 20
  private static let total = 32 << 20

  private struct Users {
    let settings = FileSettings(
      limitBytes: 0, bytesPerSecond: perUser, totalBytesPerSecond: total
    ) { _ in [] }
    var now: Int64 = 1000
    /// When each goes on.
    var at: [Int64]
    var bytes: [Int]

    init(_ count: Int) {
      at = Array(repeating: 0, count: count)
      bytes = Array(repeating: 0, count: count)
    }

    /// Lets the first `count` users send for some seconds, each at most 100 MB/s, and returns what each has sent.
    mutating func send(_ count: Int, seconds: Int64) -> [Int] {
      bytes = bytes.map { _ in 0 }
      let end = now + seconds * 1000
      while now < end {
        for user in 0..<count where at[user] <= now {
          let cost = settings.price.cost(of: block, now: now)
          bytes[user] += block
          while let wait = settings.budgets.take(
            sends: 0, requests: 0, bytes: cost, from: "\(user)", now: max(now, at[user]))
          {
            at[user] = max(now, at[user]) + wait
          }
        }
        now += 1
      }
      return Array(bytes.prefix(count))
    }
  }

  @Test(arguments: [5, 10, 100, 1000])
  func `are what they may be, in equal parts`(count: Int) {
    var users = Users(count)
    _ = users.send(count, seconds: 10)
    let sent = users.send(count, seconds: 20)
    let all = sent.reduce(0, +) / 20
    #expect(
      Double(all) / Double(Self.total) < 1.1 && Double(all) / Double(Self.total) > 0.8, "\(all)")
    let (least, most) = (sent.min() ?? 0, sent.max() ?? 0)
    #expect(most - least <= max(2 * Self.block, most / 5), "\(least) to \(most)")
  }
}
