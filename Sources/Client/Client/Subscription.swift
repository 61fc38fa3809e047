internal import Platform
public import Wire

/// Where a subscription begins.
public enum JoinStart: Equatable, Sendable {
  /// With the next new entry.
  case head
  /// With this many of the newest entries.
  case newest(Int)
  /// After this entry; 0 is before the first. The epoch and the lineage are those of the last
  /// `joined` before the entry.
  case after(Int64, epoch: String?, lineage: [EpochStart] = [])
}

/// A room that is joined or will be joined again: the client's side of a cursor.
struct Subscription: Sendable {
  /// How to handle an entry.
  enum Verdict: Equatable {
    case deliver
    /// Delivered before, or from a cursor that was replaced.
    case drop
    /// An entry before it is missing; the cursor must be set again.
    case gap
    /// Setting it again did not help.
    case gapAgain
  }

  let room: String
  let countsSubscribers: Bool
  private(set) var start: JoinStart
  /// The last entry that was delivered, after the first `joined`.
  private(set) var last: Int64?
  private(set) var epoch: String?
  private(set) var lineage: [EpochStart] = []
  /// The number of joins that are not answered on this connection.
  private(set) var asked = 0
  private(set) var isJoined = false
  /// Where the last gap was.
  private var gapAfter: Int64?
  /// When to repeat a join that was refused temporarily.
  var retryAt: Instant?
  var marks = Marks()
  var membership = Membership()

  /// This client's own marks; merged, the latest value wins.
  struct Marks: Sendable {
    var received: Int64 = 0
    var read: Int64 = 0
    var sentReceived: Int64 = 0
    var sentRead: Int64 = 0
    var sentAt: Instant?

    var isPending: Bool { received > sentReceived || read > sentRead }
  }

  init(room: String, from start: JoinStart, countsSubscribers: Bool) {
    self.room = room
    self.start = start
    self.countsSubscribers = countsSubscribers
    if case .after(let seq, let epoch, let lineage) = start {
      last = seq
      self.epoch = epoch
      self.lineage = lineage
    }
  }

  /// Returns the join to send, which starts after the last delivered entry.
  mutating func ask() -> ClientMessage { .join(askedJoin()) }

  /// As `ask`, for a message that joins other rooms as well.
  mutating func askedJoin() -> ClientMessage.Join {
    asked += 1
    isJoined = false
    retryAt = nil
    return ClientMessage.Join(
      room: room, after: last, epoch: epoch, lineage: lineage.isEmpty ? nil : lineage,
      subscribers: countsSubscribers)
  }

  /// Records that answers to earlier joins are still to come.
  mutating func expect(answers: Int) { asked = answers }

  mutating func connectionLost() {
    asked = 0
    isJoined = false
    retryAt = nil
    gapAfter = nil
    marks.sentReceived = 0
    marks.sentRead = 0
    marks.sentAt = nil
  }

  mutating func joinRefused() { asked = max(0, asked - 1) }

  /// How to handle a `joined`.
  enum Answer: Equatable {
    /// The subscription is active.
    case stands
    /// A later join is not answered yet, or one is to be sent now.
    case superseded
    case askAgain
    case gapAgain
  }

  mutating func joined(_ joined: ServerMessage.Joined) -> Answer {
    asked = max(0, asked - 1)
    guard asked == 0 else { return .superseded }
    epoch = joined.epoch
    lineage = joined.lineage
    if last == nil, case .newest(let count) = start {
      // The start of the last `count` entries is known now.
      let first = joined.head - Int64(clamping: max(0, count))
      start = .head
      last = max(first, joined.first - 1, 0)
      if last != joined.after { return .askAgain }
    }
    switch joined.resume {
    case .ok:
      if let last, joined.after > last { return gap(after: last) }
      last = last ?? joined.after
    case .truncated:
      last = max(last ?? joined.after, joined.after)
    case .diverged, .reset:
      last = joined.after
      marks = Marks()
    }
    isJoined = true
    marks.sentReceived = max(marks.sentReceived, joined.received)
    marks.sentRead = max(marks.sentRead, joined.read)
    return .stands
  }

  mutating func verdict(seq: Int64) -> Verdict {
    guard isJoined, let last, seq > last else { return .drop }
    guard seq == last + 1 else {
      return gap(after: last) == .gapAgain ? .gapAgain : .gap
    }
    self.last = seq
    return .deliver
  }

  /// Delivers consecutive entries if they are the next ones.
  mutating func advance(from seq: Int64, count: Int) -> Bool {
    guard isJoined, count > 0, let last, seq == last + 1 else { return false }
    self.last = last + Int64(count)
    return true
  }

  private mutating func gap(after last: Int64) -> Answer {
    if gapAfter == last { return .gapAgain }
    gapAfter = last
    return .askAgain
  }
}
