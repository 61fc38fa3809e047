import Wire

/// `report` and `reports`: entries that users find wrong. The log keeps each report as an entry of
/// `sys:reports`.
final class Reports: Feature {
  func receive(
    _ room: String, _ seq: Int64, _ reason: String, ref: String?, from session: Slot<Session>,
    in audience: inout some ListsAudience & ~Copyable, _ now: Moment
  ) {
    do throws(WireError) {
      try audience.checkAccess(to: room, re: .report, session)
    } catch {
      audience.reply(error, ref: ref, to: session)
      return
    }
    let asker = audience.asker(session, now)
    audience.submit(
      .report(
        LogRequest.Report(
          room: room, seq: seq, user: asker.user, isOperator: asker.isOperator, reason: reason,
          origin: audience.origin(.report, ref: ref, session), receivedAt: now.microseconds)))
  }

  /// Answers with the reports about a room, or for an operator with all.
  func list(
    _ room: String?, ref: String?, for session: Slot<Session>,
    in audience: inout some ListsAudience & ~Copyable, _ now: Moment
  ) {
    let asker = audience.asker(session, now)
    do throws(WireError) {
      if let room { try audience.checkAccess(to: room, re: .reports, session) }
      guard room != nil || asker.isOperator else {
        throw WireError(
          .forbidden, "Only the operators of the relay see the reports about all rooms.",
          re: .reports)
      }
    } catch {
      audience.reply(error, ref: ref, to: session)
      return
    }
    audience.awaitReply(ref: ref, session)
    audience.read(.reports(audience.id(of: session), room: room, by: asker))
  }
}
