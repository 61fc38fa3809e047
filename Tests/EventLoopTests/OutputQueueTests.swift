import EventLoop
import Glibc
import Mailbox
import Testing

@Suite struct `Output queue` {
  @Test func `partial writes keep the order of shared and own bytes`() throws {
    let pair = try Pair(receiveBufferBytes: 4096)
    try pair.client.borrowed.setSendBuffer(bytes: 4096)
    var queue = OutputQueue(limitBytes: 10_000_000)
    var random = SystemRandomNumberGenerator()
    let shared = (0..<70_000).map { _ in UInt8.random(in: 0...255, using: &random) }
    var expected: [UInt8] = []
    for turn in 0..<400 {
      let start = Int.random(in: 0..<shared.count, using: &random)
      let range = start..<min(shared.count, start + Int.random(in: 0...5000, using: &random))
      if turn % 3 == 0 {
        let copy = Array(shared[range])
        guard queue.append(copying: copy.span) else { throw Unexpected("no room") }
      } else {
        guard queue.append(sharing: shared, range) else { throw Unexpected("no room") }
      }
      expected += shared[range]
    }
    #expect(queue.count == expected.count)

    let receiver = pair.server.borrowed
    let result = try Mailbox<[UInt8]>()
    let total = expected.count
    let reader = try WorkerThread(name: "reader") { result.post(receiver.readAll(upTo: total)) }
    var taken = 0
    var blocked = 0
    flushing: while true {
      let before = queue.count
      switch queue.flush(to: pair.client.borrowed) {
      case .flushed(let bytes):
        taken += bytes
        #expect(bytes == before)
        break flushing
      case .blocked(let bytes):
        taken += bytes
        blocked += 1
        #expect(queue.count == before - bytes)
        guard becomes(POLLOUT, pair.client.descriptor) else { break flushing }
      case .failed(let error):
        Issue.record(error)
        break flushing
      }
    }
    reader.join()
    #expect(taken == total)
    #expect(blocked > 10)
    #expect(queue.isEmpty)
    var received: [[UInt8]] = []
    result.drain(into: &received)
    #expect(received.first == expected)
  }

  @Test func `more segments than one call takes leave in one flush`() throws {
    let pair = try Pair()
    var queue = OutputQueue(limitBytes: 1000)
    let digits: [UInt8] = Array(0...9)
    for number in 0..<200 {
      let fits = queue.append(sharing: digits, number % 10..<number % 10 + 1)
      #expect(fits)
    }
    guard case .flushed(200) = queue.flush(to: pair.client.borrowed) else {
      Issue.record("not flushed")
      return
    }
    let received = pair.server.borrowed.readAll(upTo: 200)
    #expect(received == (0..<200).map { UInt8($0 % 10) })
  }

  @Test func `what goes beyond the limit is refused whole`() throws {
    var queue = OutputQueue(limitBytes: 10)
    let bytes = [UInt8](repeating: 1, count: 11)
    var fits = queue.append(sharing: bytes, 0..<6)
    #expect(fits && queue.roomBytes == 4)
    fits = queue.append(copying: bytes.span.extracting(first: 5))
    #expect(!fits && queue.count == 6)
    fits = queue.append(sharing: bytes, 0..<5)
    #expect(!fits && queue.count == 6)
    fits = queue.append(copying: bytes.span.extracting(first: 4))
    #expect(fits && queue.roomBytes == 0)
    queue.removeAll()
    #expect(queue.isEmpty && queue.roomBytes == 10)
  }

  @Test func `a slow reader and a steady writer do not make it grow`() throws {
    // Own bytes are taken from the front while others are added at the end, a thousand times
    // more than the queue ever holds.
    let pair = try Pair(receiveBufferBytes: 4096)
    try pair.client.borrowed.setSendBuffer(bytes: 4096)
    var queue = OutputQueue(limitBytes: 20_000)
    let receiver = pair.server.borrowed
    var sent = 0
    var received = 0
    var mismatches = 0
    var buffer = [UInt8](repeating: 0, count: 4096)
    while received < 1_000_000 {
      while sent < 1_000_000 {
        let piece = (sent..<sent + 1000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        guard queue.append(copying: piece.span) else { break }
        sent += piece.count
      }
      if case .failed(let error) = queue.flush(to: pair.client.borrowed) { throw error }
      guard becomes(POLLIN, receiver.descriptor) else { throw Unexpected("nothing came") }
      var span = buffer.mutableSpan
      guard case .bytes(let count) = receiver.read(into: &span) else {
        throw Unexpected("the connection ended")
      }
      for index in 0..<count
      where buffer[index] != UInt8(truncatingIfNeeded: (received + index) &* 31) {
        mismatches += 1
      }
      received += count
    }
    #expect(mismatches == 0)
    #expect(queue.isEmpty)
  }

  @Test func `a connection that is gone is told`() throws {
    let pair = try Pair()
    let server = pair.server.borrowed
    let client = pair.client.release()
    Socket(owning: client).abort()
    #expect(becomes(POLLHUP, server.descriptor))
    var queue = OutputQueue(limitBytes: 10)
    let bytes: [UInt8] = [1, 2, 3]
    let fits = queue.append(sharing: bytes, 0..<1) && queue.append(sharing: bytes, 2..<3)
    #expect(fits)
    guard case .failed = queue.flush(to: server) else {
      Issue.record("sent to nobody")
      return
    }
  }
}
