import Testing

@testable import Relay

@Suite struct `The latest values of keys` {
  @Test func `come in the order of their keys, and a key that comes again keeps its place`() {
    var queue = LatestQueue<String, Int>()
    for (number, key) in ["a", "b", "a", "c", "b"].enumerated() {
      queue.set(number, for: key, limit: 10)
    }
    var popped: [String] = []
    while let (key, value) = queue.popFirst() { popped.append("\(key)\(value)") }
    #expect(popped == ["a2", "b4", "c3"])
    #expect(queue.isEmpty)
  }

  @Test func `are at most as many as the limit, beyond which known keys still change`() {
    var queue = LatestQueue<Int, Int>()
    for key in 0..<1000 {
      let isKept = queue.set(key, for: key, limit: 512)
      #expect(isKept == (key < 512))
    }
    queue.set(-1, for: 0, limit: 512)
    #expect(queue.count == 512)
    #expect(queue[0] == -1)
    _ = queue.popFirst()
    let isKept = queue.set(5, for: 5000, limit: 512)
    #expect(isKept)
  }

  /// A queue that is never empty must not keep what has left it.
  @Test func `that pass through leave nothing behind`() {
    var queue = LatestQueue<Int, Int>()
    for key in 0..<100 { queue.set(key, for: key, limit: 512) }
    for key in 100..<100_000 {
      queue.set(key, for: key, limit: 512)
      let popped = queue.popFirst()?.key
      #expect(popped == key - 100)
    }
    #expect(queue.count == 100)
    #expect(queue.keysHeld <= 400)
  }
}
