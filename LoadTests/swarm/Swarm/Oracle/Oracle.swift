public import Wire

/// The checker: compares what a relay does with what it promises.
///
/// A value without clock and socket. It is given everything that was sent, acknowledged and
/// delivered, as received from the wire and before a client has removed duplicates or reordered
/// anything; it returns violations. It must be given every frame of every connection, and at the
/// end what a fresh reader found in each room.
public struct Oracle: Sendable {
  /// The state of a send.
  struct Send: Sendable {
    var room: Int
    var digest: UInt64
    /// Nanoseconds from the start of the run.
    var intended: UInt64
    var isTransmitted = false
    var isRefused = false
    /// From its ack.
    var seq: Int64?
    /// The number under which it was delivered first.
    var deliveredAs: Int64?
  }

  /// Further violations are only counted.
  static let violationLimit = 100
  /// The maximum jump of an entry's number beyond the head, which bounds the memory that an
  /// invented number can cost. Rooms begin empty.
  static let jumpLimit: Int64 = 100_000
  /// The number of entries shown before and after a missing one.
  static let contextEntries: Int64 = 2

  /// The names of rooms, users and ids.
  public let naming: Naming
  /// The first violations, in the order in which they were found.
  public internal(set) var violations: [Violation] = []
  /// The number of all violations.
  public internal(set) var counts: [Promise: Int] = [:]
  /// The number of entries that were checked.
  public internal(set) var deliveries = 0

  var sends: [[Send]]
  var ledgers: [RoomLedger]
  /// By receiver: the clients, then the fresh readers. Each receiver's cursors are sorted by room.
  var cursors: [[Cursor]]
  /// By receiver: the cursor that moved last, which usually moves next.
  var likelyCursors: [Int32]
  /// By room.
  var tapes: [RoomTape]
  let tapeLimitBytes: Int
  let finder: RoomFinder
  /// Whether the log can lose its last entries, of which receivers have to be told.
  let mayFork: Bool
  /// By receiver and room, if it can.
  var held: [[Int: HeldEntries]]
  /// The receivers that have to agree with the log in the end.
  var mustAgree: [Int] = []
  /// When the log may have forked for the last time, in nanoseconds from the start of the run: what was
  /// sent later must not be lost.
  var lastFork: UInt64 = 0
  /// How often a receiver was told of a fork.
  public internal(set) var forksTold = 0

  /// Creates a checker that has seen nothing.
  ///
  /// - Parameter mayFork: Whether entries may be lost if all receivers that have them are told.
  public init(_ naming: Naming, mayFork: Bool = false) {
    self.naming = naming
    self.mayFork = mayFork
    held = Array(repeating: [:], count: naming.users.count)
    sends = Array(repeating: [], count: naming.users.count)
    ledgers = Array(repeating: RoomLedger(), count: naming.rooms.count)
    cursors = Array(repeating: [], count: naming.users.count)
    likelyCursors = Array(repeating: 0, count: naming.users.count)
    tapes = Array(repeating: RoomTape(), count: naming.rooms.count)
    tapeLimitBytes = Self.tapeLimit(rooms: naming.rooms.count)
    finder = RoomFinder(naming.rooms)
  }

  /// Adds a reader that reads every room again after the run.
  ///
  /// - Returns: Its number as a receiver; the clients' numbers are their indices in the plan.
  public mutating func addReader() -> Int {
    cursors.append([])
    likelyCursors.append(0)
    held.append([:])
    return cursors.count - 1
  }

  // MARK: Sending

  /// Records that a client is about to send its next text.
  public mutating func sends(_ send: Naming.SendID, room: Int, text: String, intended: UInt64) {
    precondition(send.number == sends[send.client].count + 1, "sends are numbered in order")
    sends[send.client].append(
      Send(room: room, digest: MessageText.digest(text), intended: intended))
  }

  /// Records that a send was transmitted, for the first time or again.
  public mutating func transmitted(_ send: Naming.SendID) {
    sends[send.client][send.number - 1].isTransmitted = true
  }

  /// Records that a send was refused for good. Ids are unique and texts never change, so a conflict
  /// is the relay's error.
  public mutating func refused(_ send: Naming.SendID, _ error: WireError) {
    sends[send.client][send.number - 1].isRefused = true
    guard error.code == .idConflict else { return }
    let room = sends[send.client][send.number - 1].room
    report(
      .conflict, naming.rooms[room], error.seq.map { [$0] } ?? [],
      "\(naming.id(of: send)) was refused: \(error.message)")
  }

  /// Handles an ack.
  ///
  /// - Returns: The intended time of the send, if this is its first ack.
  public mutating func acknowledged(_ ack: ServerMessage.Ack, to client: Int) -> UInt64? {
    guard let id = naming.send(ofID: ack.id), id.client == client, let known = self[id],
      known.isTransmitted
    else {
      report(
        .invented, ack.room, [ack.seq],
        "\(naming.users[client]) received an ack of \(ack.id), which it had not sent")
      return nil
    }
    guard naming.rooms[known.room] == ack.room else {
      report(
        .altered, ack.room, [ack.seq],
        "the ack of \(ack.id) names this room, but it was sent to \(naming.rooms[known.room])")
      return nil
    }
    if let seq = known.seq {
      if seq != ack.seq {
        report(
          .doubled, ack.room, [seq, ack.seq],
          "\(ack.id) was acknowledged with two seqs")
      }
      return nil
    }
    sends[client][id.number - 1].seq = ack.seq
    return known.intended
  }

  /// The intended times of the sends that are neither acknowledged nor refused.
  public var unanswered: [UInt64] {
    sends.flatMap { $0.compactMap { $0.seq == nil && !$0.isRefused ? $0.intended : nil } }
  }

  subscript(id: Naming.SendID) -> Send? {
    guard sends.indices.contains(id.client), id.number <= sends[id.client].count else { return nil }
    return sends[id.client][id.number - 1]
  }

  // MARK: Receiving

  /// Handles a delivered entry.
  ///
  /// - Returns: Its intended time, if the entry is as it should be.
  public mutating func delivered(_ entry: Entry, to receiver: Int) -> UInt64? {
    judge(entry, receiver)?.intended
  }

  /// The result of checking an entry.
  struct Judged {
    var room: Int
    /// The intended time, if the entry is as it was sent.
    var intended: UInt64?
    /// Whether the entry itself is correct, regardless of its order.
    var isGood: Bool
  }

  /// - Returns: `nil` if it is not an entry of this run.
  mutating func judge(_ entry: Entry, _ receiver: Int) -> Judged? {
    deliveries += 1
    guard let room = naming.room(entry.room), entry.seq >= 1,
      entry.seq <= ledgers[room].head + Self.jumpLimit
    else {
      report(.invented, entry.room, [entry.seq], "this entry is impossible")
      return nil
    }
    advance(receiver, room, entry.seq)
    guard let id = naming.send(ofID: entry.id), let send = self[id], send.isTransmitted else {
      report(
        .invented, entry.room, [entry.seq],
        "\(name(receiver)) received \(entry.id) from \(entry.from), which no client sent")
      return nil
    }
    let text = entry.text
    let digest = text.map(MessageText.digest) ?? 0
    let isAsSent =
      text != nil && digest == send.digest && send.room == room
      && entry.from == naming.users[id.client]
    if !isAsSent {
      report(
        .altered, entry.room, [entry.seq],
        "\(name(receiver)) received \(entry.id) with another"
          + (send.room != room ? " room" : digest != send.digest ? " text" : " sender")
          + " than it was sent with")
    }
    let slot = RoomLedger.Slot(
      client: Int32(id.client), number: Int32(id.number), digest: digest, at: entry.at)
    let isAgreed = compare(slot, room, entry, receiver)
    return Judged(
      room: room, intended: isAsSent ? send.intended : nil, isGood: isAsSent && isAgreed)
  }

  /// Compares an entry with what others saw under its number, and its number with others.
  ///
  /// - Returns: Whether they agree.
  private mutating func compare(
    _ slot: RoomLedger.Slot, _ room: Int, _ entry: Entry, _ receiver: Int
  ) -> Bool {
    ledgers[room].expected = max(ledgers[room].expected, entry.seq)
    if mayFork {
      hold(slot, room, entry.seq, receiver)
      return true
    }
    if let known = ledgers[room][entry.seq] {
      if known == slot { return true }
      if known.send == slot.send {
        if known.at != slot.at {
          report(
            .altered, entry.room, [entry.seq],
            "\(name(receiver)) received \(entry.id) with at \(entry.at), others with \(known.at)"
          )
        }
      } else {
        report(
          .twoOrders, entry.room, [entry.seq],
          "\(name(receiver)) received \(entry.id), others \(naming.id(of: known.send))")
      }
      return false
    }
    ledgers[room][entry.seq] = slot
    let id = slot.send
    if let seq = sends[id.client][id.number - 1].deliveredAs, seq != entry.seq {
      report(
        .doubled, entry.room, [seq, entry.seq], "\(entry.id) has both seqs",
        context(of: room, around: seq) + context(of: room, around: entry.seq))
      return false
    }
    sends[id.client][id.number - 1].deliveredAs = entry.seq
    return true
  }

  // MARK: Implementation

  func name(_ receiver: Int) -> String {
    receiver < naming.users.count ? naming.users[receiver] : "a fresh reader after the run"
  }

  mutating func report(
    _ promise: Promise, _ room: String, _ seqs: [Int64], _ detail: String, _ frames: [String] = []
  ) {
    counts[promise, default: 0] += 1
    guard violations.count < Self.violationLimit else { return }
    violations.append(
      Violation(promise: promise, room: room, seqs: seqs, detail: detail, frames: frames))
  }

  /// Describes the known entries around a number.
  func context(of room: Int, around seq: Int64) -> [String] {
    let range = max(1, seq - Self.contextEntries)...max(1, seq + Self.contextEntries)
    return range.map { number in
      guard let slot = ledgers[room][number] else { return "seq \(number): no client received it" }
      return "seq \(number): \(naming.id(of: slot.send)) from \(naming.users[Int(slot.client)])"
    }
  }
}
