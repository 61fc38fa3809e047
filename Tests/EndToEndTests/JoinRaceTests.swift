import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  @Suite struct `Joins that race with commits` {
    /// What may go wrong here is the order of posts between threads, which the tests of the parts
    /// try deterministically; this is the real thing, on two loops.
    @Test func `of 10,000 joins during commits none misses an entry`() throws {
      let relay = try RelayProcess(RelayProcess.withoutLimits + "\nloops: 2")
      let writer = try RawClient(relay, user: "writer")
      let joiners = try (0..<20).map { try Joiner(relay, $0) }
      var joins: Int { joiners.reduce(0) { $0 + $1.joins } }
      var said: Int64 = 0
      var acknowledged: Int64 = 0
      let deadline = Deadline(seconds: 120)
      while joins < 10_000 {
        // Few enough in flight that there are many batches, and always one under way.
        while said - acknowledged < 3 {
          said += 1
          writer.enqueue(#"{"type":"send","room":"race","id":"\#(said)","text":"n \#(said)"}"#)
        }
        _ = try writer.flushAvailable()
        var requests = (joiners.map(\.client) + [writer]).map {
          pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0)
        }
        guard unsafe poll(&requests, nfds_t(requests.count), deadline.milliseconds) > 0 else {
          throw Unexpected("nothing happens any more, after \(joins) joins")
        }
        writer.receive()
        while case .message(let json)? = try writer.nextAvailable() {
          if json.starts(with: Array(#"{"type":"ack""#.utf8)) { acknowledged += 1 }
        }
        for joiner in joiners { try joiner.advance() }
      }
      print(
        "join race: \(joins) joins, \(said) entries, "
          + "\(joiners.reduce(0) { $0 + $1.entries }) deliveries checked")
      #expect(joiners.reduce(0) { $0 + $1.entries } >= 10_000)
    }
  }
}

/// Joins, takes a few entries, leaves, and joins again: each entry must be the next one.
private final class Joiner {
  let client: RawClient
  private(set) var joins = 0
  private(set) var entries = 0
  /// The last entry of this client: from `joined`, or received since.
  private var last: Int64?
  private var wanted = 0
  /// What the next join resumes from: every second one does.
  private var resumesFrom: Int64?

  init(_ relay: RelayProcess, _ number: Int) throws {
    client = try RawClient(relay, user: "joiner-\(number)")
    try join()
  }

  private func join() throws {
    try client.send(.join(.init(room: "race", after: resumesFrom)))
  }

  func advance() throws {
    client.receive()
    while let event = try client.nextAvailable() {
      guard case .message(let json) = event else { throw Unexpected("the end: \(event)") }
      switch try ServerMessage(decoding: json.span) {
      case .joined(let joined):
        joins += 1
        if let resumesFrom, joined.after != resumesFrom {
          throw Unexpected("joined after \(joined.after) instead of \(resumesFrom)")
        }
        last = joined.after
        wanted = 1 + joins % 3
      case .message(let entry):
        guard let before = last else { throw Unexpected("an entry without a join: \(entry.seq)") }
        guard entry.seq == before + 1 else {
          throw Unexpected("entry \(entry.seq) after \(before), in join \(joins)")
        }
        last = entry.seq
        entries += 1
        wanted -= 1
        if wanted == 0 { try client.send(.leave(room: "race", forget: false)) }
      case .left:
        resumesFrom = joins % 2 == 0 ? nil : last
        last = nil
        try join()
      case .error(let error): throw error
      default: break
      }
    }
  }
}
