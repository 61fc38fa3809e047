import Wire

/// `received` and `read`: how far a user has got in a room, which the log stores as marks. The sessions
/// of the user and the others of the room are told, at most once per interval.
final class Receipts: Feature {
  private struct Receipt {
    var marks: Marks
    var isForOthers: Bool
  }

  private var throttle = Throttle<EphemeralKey, Receipt>()

  // MARK: - Requests

  func receive(
    received seq: Int64, in room: String, ref: String?, from session: Slot<Session>,
    in audience: inout some Audience & ~Copyable
  ) {
    guard audience.hasSubscribed(to: room, session) else {
      audience.reply(.notJoined(room, re: .received), ref: ref, to: session)
      return
    }
    let marks = Marks(user: audience.user(of: session), read: 0, received: seq)
    let origin = ref == nil ? nil : audience.origin(.received, ref: ref, session)
    audience.submit(.mark(room: room, marks, from: origin))
  }

  /// Only membership is required, which the log checks.
  func receive(
    read seq: Int64, in room: String, ref: String?, from session: Slot<Session>,
    in audience: inout some Audience & ~Copyable
  ) {
    let hasSubscribed = audience.hasSubscribed(to: room, session)
    do throws(WireError) {
      if !hasSubscribed { try audience.checkAccess(to: room, re: .read, session) }
    } catch {
      audience.reply(error, ref: ref, to: session)
      return
    }
    let marks = Marks(user: audience.user(of: session), read: seq, received: seq)
    let origin = hasSubscribed && ref == nil ? nil : audience.origin(.read, ref: ref, session)
    audience.submit(.mark(room: room, marks, from: origin))
  }

  // MARK: - Commits

  func apply(
    _ change: Commit.MarkChange, in audience: inout some Audience & ~Copyable, _ now: Moment
  ) {
    guard let room = audience.room(named: change.room) else { return }
    let key = EphemeralKey(.receipt, room, change.marks.user)
    let receipt = Receipt(
      marks: change.marks,
      isForOthers: change.members.map { $0 <= SequencedRoom.memberListLimit } ?? false)
    if throttle.admit(receipt, for: key, now: now.monotonic) { tell(receipt, key, in: &audience) }
  }

  private func tell(
    _ receipt: Receipt, _ key: EphemeralKey, in audience: inout some Audience & ~Copyable
  ) {
    guard let room = audience.name(of: key.room) else { return }
    audience.encode(.receipt(room: room, receipt.marks))
    audience.inform(.ownSessions, key)
    if receipt.isForOthers { audience.inform(.others, key) }
  }

  // MARK: - Time

  var nextDeadline: Int64? { throttle.nextDeadline }

  func tick(in audience: inout some Audience & ~Copyable, _ now: Moment) {
    while let (key, receipt) = throttle.takeDue(now: now.monotonic) {
      tell(receipt, key, in: &audience)
    }
  }

  var timerCount: Int { throttle.timerCount }
  var isLoose: Bool { throttle.isLoose }
  func shrink() { throttle.shrink() }
}
