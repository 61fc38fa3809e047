import ShardWorld
import Testing
import Wire

@testable import Relay

/// A sequencer with its store and a clock.
struct SequencerHarness {
  /// The session of requests that name none.
  static let session = SessionID(index: 1, generation: 0)

  var store = countingStore()
  var sequencer: Sequencer
  var now: Int64 = 1_000_000

  init(keepEntriesPerRoom: Int64 = 0) {
    store.base.epoch = 2
    sequencer = Sequencer(
      lineage: Lineage([
        .init(number: 0, name: "oldest"), .init(number: 1, name: "old"),
        .init(number: 2, name: "new"),
      ]),
      retention: .keeping(keepEntriesPerRoom), loops: 1)
  }

  @discardableResult
  mutating func submit(_ requests: LogRequest...) -> Sequencer.Outcome { submit(requests) }

  mutating func submit(
    _ requests: [LogRequest], defersArrivals: Bool = false
  ) -> Sequencer.Outcome {
    sequencer.process(
      [(0, requests)], defersArrivals: defersArrivals, store: &store, now: now,
      framing: SimulatedSocket.framing)
  }

  @discardableResult
  mutating func submit(trimming trims: [RoomTrim]) -> Sequencer.Outcome {
    sequencer.process(
      [], trimming: trims, store: &store, now: now, framing: SimulatedSocket.framing)
  }

  mutating func memberships(of user: String) -> [String] { slice(of: user, limit: 256).rooms }

  /// Returns a slice of a user's memberships, and the cursor of the next slice.
  mutating func slice(
    of user: String, after: MembershipsCursor = .start, limit: Int
  ) -> (rooms: [String], next: MembershipsCursor?) {
    for case .memberships(_, _, let rooms, let next, _) in submit(
      .memberships(ticket: 0, user: user, listed: [], after: after, limit: limit)
    )
    .answers[0] {
      return (rooms.map(\.room), next)
    }
    return ([], nil)
  }
}

extension Sequencer.Outcome {
  var acks: [ServerMessage.Ack] {
    answers[0].compactMap { if case .ack(_, let ack) = $0 { ack } else { nil } }
  }
  var refusals: [WireError] {
    answers[0].compactMap { if case .refused(_, let error) = $0 { error } else { nil } }
  }
  var joined: [ServerMessage.Joined] {
    answers[0].compactMap {
      if case .subscribed(_, let subscribed) = $0 { subscribed.joined } else { nil }
    }
  }
}

/// Requests as tests write them. The text of a sent entry is its id, unless it is given.
extension LogRequest {
  static func append(_ send: ClientMessage.Send, _ user: String) -> LogRequest {
    .append(
      .init(
        session: SequencerHarness.session, room: send.room, user: user, id: send.id,
        kind: send.kind, body: send.body, reference: send.reference, mayCreate: true))
  }

  static func append(
    _ room: String, _ user: String, _ id: String, text: String? = nil,
    session: SessionID = SequencerHarness.session, mayCreate: Bool = true, receivedAt: Int64 = 0
  ) -> LogRequest {
    let send = ClientMessage.Send(room: room, id: id, text: text ?? id)
    return .append(
      .init(
        session: session, room: room, user: user, id: id, kind: .text, body: send.body,
        mayCreate: mayCreate, receivedAt: receivedAt))
  }

  static func subscribe(
    _ room: String, _ user: String, after: Int64? = nil, epoch: String? = nil
  ) -> LogRequest {
    .subscribe(
      .init(
        session: SequencerHarness.session, room: room, user: user, after: after, epoch: epoch,
        mayCreate: true))
  }

  static func read(_ room: String, _ user: String, _ seq: Int64) -> LogRequest {
    .mark(room: room, Marks(user: user, read: seq, received: seq))
  }
}
