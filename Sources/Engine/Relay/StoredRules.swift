package import Moderation
internal import Wire

/// Rules and standings as stores and exports keep them.
extension RoomRules {
  /// Creates the rules from settings as `settingsBody` has them; `nil` if there is anything else in them, so
  /// that no room is open because a word is not known, or if the counts are in no sensible range.
  package init?(settings body: [UInt8], _ counts: Counts) {
    guard let change = RoomSettings.Change(body: body), change.body == body,
      (0...RoomSettings.Change.slowLimit).contains(change.slowSeconds ?? -1),
      [counts.owners, counts.members, counts.barred].allSatisfy({
        (0...Int(Entry.sequenceLimit)).contains($0)
      })
    else { return nil }
    var settings = RoomSettings()
    settings.apply(change)
    self.init(settings, counts)
  }

  package var settingsBody: [UInt8] { settings.change.body }
}

extension Standing {
  /// A term as one number: -1 = there is none, 0 = for good, otherwise when it ends.
  private static func number(_ term: Term?) -> Int64 { term.map { $0.until ?? 0 } ?? -1 }

  private static func term(_ number: Int64) -> Term? {
    number < 0 ? nil : Term(until: number == 0 ? nil : number)
  }

  package var banNumber: Int64 { Self.number(ban) }
  package var muteNumber: Int64 { Self.number(mute) }

  /// Creates a standing from what a store has of it; `nil` if that is none.
  /// - Parameter inviter: `""` = none.
  package init?(role: String, ban: Int64, mute: Int64, since: Int64, inviter: String) {
    guard let role = Role(rawValue: role), role != .muted, role != .banned,
      (0...Entry.sequenceLimit).contains(since)
    else { return nil }
    self.init(
      base: role, ban: Self.term(ban), mute: Self.term(mute), since: since,
      inviter: inviter.isEmpty ? nil : inviter)
  }
}
