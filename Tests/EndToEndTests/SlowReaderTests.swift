import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  /// What a client does not take waits in the log.
  @Suite struct `Clients that do not read` {
    @Test func `50,000 messages wait for a reader, and all arrive`() throws {
      _ = try Backlog().ofMessages(50_000, isReading: false)
    }

    @Test func `10,000 requests for history wait for their reader, and all are answered`() throws {
      _ = try Backlog().ofRequests(10_000, isReading: false)
    }
  }

  /// It waits there, and not in the relay's memory: a reader that reads at once costs as much.
  @Suite struct `Measured: clients that do not read` {
    /// What may come on top, all buffers of the one connection included.
    static let allowanceBytes = 2 << 20

    @Test func `50,000 messages wait for a reader at no cost in memory`() throws {
      let backlog = Backlog()
      try compare("50,000 messages") { try backlog.ofMessages(50_000, isReading: $0) }
    }

    @Test func `10,000 requests for history wait for their reader at no cost in memory`() throws {
      let backlog = Backlog()
      try compare("10,000 requests") { try backlog.ofRequests(10_000, isReading: $0) }
    }

    private func compare(_ name: String, _ growth: (_ isReading: Bool) throws -> Growth) throws {
      let live = try growth(true)
      let stalled = try growth(false)
      print("\(name): read at once \(live); read at the end \(stalled)")
      #expect(stalled.before - live.before <= Self.allowanceBytes)
      // Nor does catching up cost more.
      #expect(stalled.after - live.after <= Self.allowanceBytes)
    }
  }
}

/// Data that waits for a reader, and its cost for the relay until it has been read: every piece, in
/// order.
private struct Backlog {
  private let texts = Texts()

  private func relay() throws -> RelayProcess {
    // One loop, so that all runs have the same one; a short tail, so that it is not the tail
    // that is measured.
    try RelayProcess(
      RelayProcess.withoutLimits + "\nloops: 1\nlog: { tail_bytes: 65536 }")
  }

  func ofMessages(_ count: Int, isReading: Bool) throws -> Growth {
    let relay = try relay()
    let writer = try Writer(relay, texts)
    let reader = try RawClient(relay, user: "reader")
    _ = try reader.join("general", after: 0)
    var received = 0
    // Warm: caches, pages of the database, both connections.
    try writer.write(1000) {}
    try check(reader, &received, upTo: 1000)
    let growth = try Growth(relay)
    try writer.write(count) {
      if isReading {
        reader.receive()
        try check(reader, &received)
      }
    }
    var result = try growth.measured()
    try check(reader, &received, upTo: 1000 + count)
    try result.measureAgain()
    return result
  }

  func ofRequests(_ count: Int, isReading: Bool) throws -> Growth {
    let pageEntries = 4
    let relay = try relay()
    let writer = try Writer(relay, texts)
    try writer.write(2000) {}
    let client = try RawClient(relay, user: "reader")
    var answered = 0
    func ask(_ number: Int) {
      client.enqueue(
        #"{"type":"history","room":"general","after":\#(number % 1900),"limit":\#(pageEntries)}"#
      )
    }
    func takeAnswers() throws {
      client.receive()
      while case .message(let json)? = try client.nextAvailable() {
        if json.starts(with: Array(#"{"type":"welcome""#.utf8)) { continue }
        guard json.integer("seq") == Int64(answered % 1900 + 1) else {
          throw Unexpected(
            "answer \(answered): \(String(decoding: json.prefix(200), as: UTF8.self))")
        }
        answered += 1
      }
    }
    for number in 0..<100 { ask(number) }
    let deadline = Deadline(seconds: 120)
    while answered < 100 { try pump(client, deadline, takeAnswers) }
    let growth = try Growth(relay)
    for number in 100..<count { ask(number) }
    if isReading {
      while answered < count { try pump(client, deadline, takeAnswers) }
    } else {
      // As much as the relay takes: it stops reading once its answers are not read.
      while try !client.flushAvailable() {
        if !becomes(POLLOUT, client.descriptor, Deadline(milliseconds: 500)) { break }
      }
      // Another client is served meanwhile: the loop has had its turns.
      let other = try RawClient(relay, user: "other")
      for _ in 0..<20 { _ = try other.history("general", limit: 1) }
    }
    var result = try growth.measured()
    while answered < count { try pump(client, deadline, takeAnswers) }
    try result.measureAgain()
    return result
  }

  private func pump(_ client: RawClient, _ deadline: Deadline, _ body: () throws -> Void) throws {
    let isFlushed = try client.flushAvailable()
    guard becomes(isFlushed ? POLLIN : POLLIN | POLLOUT, client.descriptor, deadline) else {
      throw Unexpected("the relay said nothing more")
    }
    try body()
  }

  /// Takes entries that are there: each must be the next, with its own text.
  private func check(_ reader: RawClient, _ received: inout Int) throws {
    while let event = try reader.nextAvailable() {
      guard case .message(let json) = event else { throw Unexpected("the end: \(event)") }
      guard json.starts(with: Array(#"{"type":"message""#.utf8)) else { continue }
      received += 1
      guard json.integer("seq") == Int64(received) else {
        throw Unexpected(
          "not entry \(received): \(String(decoding: json.prefix(200), as: UTF8.self))")
      }
      // In debug builds looking at each byte of each would take most of the time.
      if received % 16 == 0, case .message(let entry)? = try? ServerMessage(decoding: json.span) {
        guard Array((entry.text ?? "").utf8) == Array(texts[received]) else {
          throw Unexpected("entry \(received) has another text")
        }
      }
    }
  }

  private func check(_ reader: RawClient, _ received: inout Int, upTo count: Int) throws {
    let deadline = Deadline(seconds: 120)
    try check(reader, &received)
    while received < count {
      try pump(reader, deadline) { reader.receive() }
      try check(reader, &received)
    }
  }
}

/// How much a relay's memory grew, at its peak, in bytes.
private struct Growth: CustomStringConvertible {
  private let relay: RelayProcess
  private let start: Int
  /// Until the reader began to read.
  private(set) var before = 0
  /// Until it had read everything.
  private(set) var after = 0

  init(_ relay: RelayProcess) throws {
    self.relay = relay
    try relay.forgetPeakMemory()
    start = try relay.memory.now
  }

  func measured() throws -> Growth {
    var growth = self
    growth.before = try relay.memory.peak - start
    return growth
  }

  mutating func measureAgain() throws { after = try relay.memory.peak - start }

  var description: String {
    "+\(before / 1024) KiB, then +\(after / 1024) KiB, from \(start / 1024) KiB"
  }
}

/// Texts that nothing can make shorter: from 200 to 1000 characters at random places in a
/// megabyte of them.
private final class Texts {
  private let pool: [UInt8]

  init() {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var random = SystemRandomNumberGenerator()
    var pool: [UInt8] = []
    pool.reserveCapacity(1 << 20)
    while pool.count < 1 << 20 {
      var bits = random.next()
      for _ in 0..<10 {
        pool.append(alphabet[Int(bits & 63)])
        bits >>= 6
      }
    }
    self.pool = pool
  }

  subscript(number: Int) -> ArraySlice<UInt8> {
    // The places follow from the number, so that a reader can tell whether it got the right one.
    let hash = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
    let length = 200 + Int(hash >> 32) % 801
    let start = Int(hash >> 8 & 0xFFFF_FFFF) % (pool.count - 1001)
    return pool[start..<start + length]
  }
}

/// Sends texts as fast as they are acknowledged, and reads nothing but the acks.
private final class Writer {
  private let client: RawClient
  private let texts: Texts
  private var sent = 0
  private var acknowledged = 0
  private static let window = 128

  init(_ relay: RelayProcess, _ texts: Texts) throws {
    client = try RawClient(relay, user: "writer")
    self.texts = texts
  }

  func write(_ count: Int, meanwhile body: () throws -> Void) throws {
    let end = sent + count
    let deadline = Deadline(seconds: 120)
    while acknowledged < end {
      while sent < end, sent - acknowledged < Self.window {
        sent += 1
        var json = Array(#"{"type":"send","room":"general","id":"\#(sent)","text":""#.utf8)
        json += texts[sent]
        json += Array(#""}"#.utf8)
        client.enqueue(json)
      }
      let isFlushed = try client.flushAvailable()
      guard becomes(isFlushed ? POLLIN : POLLIN | POLLOUT, client.descriptor, deadline) else {
        throw Unexpected("no more acks after \(acknowledged)")
      }
      client.receive()
      while case .message(let json)? = try client.nextAvailable() {
        if json.starts(with: Array(#"{"type":"ack""#.utf8)) { acknowledged += 1 }
      }
      try body()
    }
  }
}
