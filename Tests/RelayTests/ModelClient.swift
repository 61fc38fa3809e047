import Mixing
import Relay
import Wire

/// A client that follows the protocol, and checks that the relay does.
final class ModelClient {
  struct Outgoing {
    var send: ClientMessage.Send
    var isInFlight = false
  }
  struct Room {
    var isJoined = false
    var cursor: Int64 = 0
    /// Unanswered joins and leaves; for a join its `after`.
    var pending: [Operation] = []
  }
  enum Operation: Equatable {
    case join(after: Int64?)
    case leave
    var isJoin: Bool { self != .leave }
  }

  let name: String
  let user: String
  private(set) var socket: SimulatedSocket?
  private(set) var rooms: [String: Room] = [:]
  /// Over all connections: the last `seq` of each room that was ever joined.
  private(set) var positions: [String: Int64] = [:]
  private(set) var outbox: [String: [Outgoing]] = [:]
  private var waitUntil: [String: Int64] = [:]
  /// Unanswered sends of this connection, by room and id.
  private var unanswered: [String: Int] = [:]
  private var sent = 0
  /// The outcomes of this connection's sends to each room, in sending order.
  private var fates: [String: [Fate]] = [:]

  private struct Fate {
    var id: String
    /// The time at which the relay read it.
    var takenAt: Int64 = 0
    /// 0 where it became an entry.
    var retryAfter: Int64?
  }
  private(set) var accepted: [String: [(id: String, seq: Int64)]] = [:]
  /// Heads as reported by `rooms` and `activity`.
  private(set) var toldHeads: [String: Int64]?
  /// Rooms of the pages so far, while there are more.
  private var listed: [String: Int64] = [:]
  private var toldMeanwhile: [String: Int64] = [:]
  private var isListing = false
  private(set) var asksForRooms = false
  /// The broken promises.
  private(set) var faults: [String] = []
  /// The received messages, to compare two runs.
  private(set) var digest = FNV1a()

  init(name: String, user: String) {
    self.name = name
    self.user = user
  }

  private func fault(_ text: String) { faults.append("\(name): \(text)") }

  // MARK: - Actions

  func connected(_ socket: SimulatedSocket) {
    self.socket = socket
    rooms = [:]
    unanswered = [:]
    fates = [:]
    waitUntil = [:]
    toldHeads = nil
    listed = [:]
    isListing = false
    asksForRooms = false
    for room in outbox.keys {
      for index in outbox[room, default: []].indices { outbox[room]?[index].isInFlight = false }
    }
  }

  func disconnected() { socket = nil }

  func join(_ room: String, fromHead: Bool) {
    let after = fromHead ? nil : positions[room] ?? 0
    rooms[room, default: Room()].pending.append(.join(after: after))
    let epoch = after == nil ? nil : "second"
    socket?.send(.join(.init(room: room, after: after, epoch: epoch, subscribers: true)))
  }

  func leave(_ room: String, forget: Bool, _ relay: SimulatedRelay) {
    guard let state = rooms[room], state.isJoined || !state.pending.isEmpty else { return }
    if state.pending.isEmpty ? !state.isJoined : state.pending.last == .leave { return }
    rooms[room]?.pending.append(.leave)
    if forget { relay.forgotten.insert("\(user) \(room)") }
    socket?.send(.leave(room: room, forget: forget))
  }

  func askForRooms() {
    asksForRooms = true
    guard !isListing else { return }
    isListing = true
    toldMeanwhile = [:]
    socket?.send(.rooms(.init(limit: 2)))
  }

  func write(_ room: String, bytes: Int) {
    sent += 1
    let text = "\(name) \(sent) " + String(repeating: "x", count: bytes)
    outbox[room, default: []].append(
      Outgoing(send: .init(room: room, id: "\(name)-\(sent)", text: text)))
  }

  /// Sends the lines that may be sent: in order, and after a refusal only when all are answered.
  func pump(now: Int64) {
    guard let socket else { return }
    for room in outbox.keys.sorted() {
      if let until = waitUntil[room] {
        guard now >= until, outbox[room]?.contains(where: \.isInFlight) == false else { continue }
        waitUntil[room] = nil
      }
      for index in outbox[room, default: []].indices where outbox[room]?[index].isInFlight == false
      {
        guard let send = outbox[room]?[index].send else { continue }
        outbox[room]?[index].isInFlight = true
        unanswered["\(room) \(send.id)", default: 0] += 1
        fates[room, default: []].append(Fate(id: send.id))
        socket.send(.send(send))
      }
    }
  }

  var isIdle: Bool {
    outbox.values.allSatisfy(\.isEmpty) && unanswered.values.allSatisfy { $0 == 0 }
  }

  // MARK: - Received messages

  func take(_ relay: SimulatedRelay) {
    guard let socket else { return }
    for message in socket.take() {
      digest.combine(message.json.span)
      take(message, relay)
    }
    for text in socket.garbage { fault("what is this? \(text)") }
    if socket.saidMoreAfterClose { fault("the close was not the last") }
  }

  private func take(_ message: ServerMessage, _ relay: SimulatedRelay) {
    switch message {
    case .joined(let joined): take(joined)
    case .left(let room):
      guard let leave = rooms[room]?.pending.firstIndex(of: .leave) else {
        fault("left \(room) unasked")
        return
      }
      rooms[room]?.pending.removeFirst(leave + 1)
      rooms[room]?.isJoined = false
    case .message(let entry): take(entry, relay)
    case .ack(let ack):
      answer(ack.room, ack.id, ack.duplicate ? nil : 0)
      let entry = relay.log[ack.room]?[ack.seq]
      if entry?.id != ack.id || entry?.from != user || entry?.at != ack.at {
        fault("acknowledged what is not in the log: \(ack)")
      }
      accepted[ack.room, default: []].append((ack.id, ack.seq))
      outbox[ack.room]?.removeAll { $0.send.id == ack.id }
    case .error(let error) where error.re == .rooms && error.code == .unavailable:
      isListing = false
      listed = [:]
    case .error(let error): take(error, relay)
    case .receipt(let room, let marks):
      let isJoined = rooms[room]?.isJoined == true
      let mayWatch = asksForRooms && (marks.user == user || RoomName.isDirect(room))
      if !isJoined, !mayWatch { fault("a receipt in \(room), which is not joined") }
    case .typing(let room, let typist, _):
      if typist == user { fault("told of its own typing") }
      if rooms[room]?.isJoined != true, !(asksForRooms && RoomName.isDirect(room)) {
        fault("typing in \(room), which is not joined")
      }
    case .subscribers(let room, _):
      if rooms[room]?.isJoined != true { fault("subscribers of \(room), which is not joined") }
    case .rooms(let summaries, let next):
      for summary in summaries {
        // One that is left for good and joined again is another.
        if let before = listed.updateValue(summary.head, forKey: summary.room), before > 0,
          !relay.forgotten.contains("\(user) \(summary.room)")
        {
          fault("\(summary.room) is listed twice")
        }
      }
      if let next {
        socket?.send(.rooms(.init(cursor: next, limit: 1)))
      } else {
        // Activity may have been reported between two pages.
        toldHeads = listed.reduce(into: [:]) { heads, row in
          heads[row.key] = max(row.value, toldMeanwhile[row.key] ?? 0)
        }
        listed = [:]
        isListing = false
      }
    case .activity(let activity):
      if rooms[activity.room]?.isJoined == true, rooms[activity.room]?.pending.isEmpty == true {
        fault("activity in \(activity.room), which is joined")
      }
      if activity.last?.seq != activity.head { fault("activity whose last is not the head") }
      if activity.head < toldHeads?[activity.room] ?? 0 { fault("activity went back") }
      toldHeads?[activity.room] = activity.head
      if isListing { toldMeanwhile[activity.room] = activity.head }
    case .people, .presence: break
    case .history(let page):
      for entry in page.entries where relay.log[page.room]?[entry.seq] != entry {
        fault("a history that is not the log's")
      }
    case .welcome, .renewed, .ok, .pong, .closing: break
    }
  }

  private func take(_ joined: ServerMessage.Joined) {
    let pending = rooms[joined.room, default: Room()].pending
    if rooms[joined.room]?.isJoined == true, joined.resume == .truncated {
      // Asked for or not: retention may have overtaken the cursor.
    } else if pending.first?.isJoin == true {
      rooms[joined.room]?.pending.removeFirst()
      if pending.count == 1, joined.resume == .ok, case .join(let after) = pending[0] {
        if joined.after != after ?? joined.head { fault("joined elsewhere: \(joined)") }
      }
    } else if rooms[joined.room]?.isJoined != true {
      fault("joined unasked: \(joined)")
    } else {
      fault("joined again for no reason: \(joined)")
    }
    if joined.lineage != [EpochStart(epoch: "second", after: joined.first - 1)] {
      fault("a wrong lineage: \(joined)")
    }
    if joined.resume == .reset || joined.resume == .diverged { fault("lost entries: \(joined)") }
    if joined.resume == .ok, joined.after < joined.first - 1 {
      fault("a gap is not told: \(joined)")
    }
    if joined.head < joined.first - 1 || joined.after > joined.head {
      fault("not a position: \(joined)")
    }
    rooms[joined.room]?.isJoined = true
    rooms[joined.room]?.cursor = joined.after
    positions[joined.room] = joined.after
  }

  private func take(_ entry: Entry, _ relay: SimulatedRelay) {
    guard let room = rooms[entry.room], room.isJoined else {
      fault("an entry of \(entry.room), which is not joined")
      return
    }
    if entry.seq != room.cursor + 1 {
      fault("\(entry.room) \(entry.seq) came after \(room.cursor)")
    }
    if relay.log[entry.room]?[entry.seq] != entry { fault("\(entry.room) \(entry.seq) is altered") }
    rooms[entry.room]?.cursor = entry.seq
    positions[entry.room] = entry.seq
  }

  private func take(_ error: WireError, _ relay: SimulatedRelay) {
    guard let room = error.room else {
      fault("\(error)")
      return
    }
    switch (error.re, error.code) {
    case (.send, .unavailable):
      guard let id = error.id, let wait = error.retryAfterMilliseconds else {
        fault("a refusal without id or wait: \(error)")
        return
      }
      answer(room, id, wait)
      waitUntil[room] = max(waitUntil[room] ?? 0, relay.now.monotonic + wait)
      if let index = outbox[room]?.firstIndex(where: { $0.send.id == id }) {
        outbox[room]?[index].isInFlight = false
      }
    case (.join, .unavailable):
      if let index = rooms[room]?.pending.firstIndex(where: \.isJoin) {
        rooms[room]?.pending.remove(at: index)
        rooms[room]?.isJoined = false
      } else if rooms[room]?.isJoined == true {
        // Subscribing anew, which the client did not ask for, may fail as well.
        rooms[room]?.isJoined = false
      } else {
        fault("\(error)")
      }
    case (.leave, .notJoined):
      if let index = rooms[room]?.pending.firstIndex(of: .leave) {
        rooms[room]?.pending.remove(at: index)
      } else {
        fault("\(error)")
      }
    case (.leave, .unavailable):
      rooms[room]?.pending.removeAll { $0 == .leave }
    case (.history, .unavailable), (.read, .unavailable), (.received, .notJoined),
      (.read, .notJoined), (.typing, .notJoined):
      break
    default: fault("\(error)")
    }
  }

  /// - Parameter retryAfter: 0 for a new entry, `nil` for one that was known.
  private func answer(_ room: String, _ id: String, _ retryAfter: Int64?) {
    if let place = fates[room]?.lastIndex(where: { $0.id == id }) {
      fates[room]?[place].retryAfter = retryAfter
      fates[room]?[place].takenAt = socket?.takenAt[id] ?? 0
    }
    unanswered["\(room) \(id)", default: 0] -= 1
    if unanswered["\(room) \(id)", default: 0] < 0 { fault("\(id) was answered twice") }
  }

  // MARK: - End of the run

  /// - Parameter keepsAll: if entries are removed, their ids are removed too, and a send that was
  ///   not acknowledged before that is stored as a new entry.
  func check(_ relay: SimulatedRelay, keepsAll: Bool) {
    if !isIdle { fault("not everything is acknowledged: \(outbox) \(unanswered)") }
    for (room, state) in rooms where state.isJoined {
      if state.cursor != relay.head(room) {
        fault("\(room) ends at \(state.cursor), not at \(relay.head(room))")
      }
    }
    for (room, acks) in accepted where keepsAll {
      for (id, seq) in acks {
        let seqs = relay.log[room, default: [:]].values.filter { $0.id == id && $0.from == user }
        if seqs.map(\.seq) != [seq] { fault("\(id) is in \(room) \(seqs.count) times") }
      }
    }
    for (room, fates) in fates { checkOrder(room, fates) }
    // Another device may have left the room for good.
    for (room, head) in toldHeads ?? [:]
    where rooms[room] == nil && relay.belongs(user, to: room) {
      if head != relay.head(room) { fault("\(room) was told at \(head), not \(relay.head(room))") }
    }
  }

  /// After a refused send nothing is stored until the wait is over, unless the first of the
  /// refused sends is sent again after its own wait.
  private func checkOrder(_ room: String, _ fates: [Fate]) {
    var first: [String: Int64] = [:]
    var until: Int64 = 0
    var seq: Int64 = 0
    for fate in fates {
      guard let retryAfter = fate.retryAfter else { continue }
      if retryAfter > 0 {
        if first.isEmpty || fate.takenAt >= until { first[fate.id] = fate.takenAt + retryAfter }
        until = max(until, fate.takenAt + retryAfter)
        continue
      }
      if let own = first[fate.id], fate.takenAt >= own { (until, first) = (0, [:]) }
      if fate.takenAt < until { fault("\(fate.id) was stored in \(room) behind one refused") }
      let own = accepted[room]?.last { $0.id == fate.id }?.seq ?? 0
      if own <= seq { fault("\(fate.id) has \(own) in \(room), an earlier one \(seq)") }
      seq = own
    }
  }
}
