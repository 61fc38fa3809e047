import Wire

/// `block` and `blocks`: the users that a user has blocked. The log keeps it, and what follows for entries; the other
/// features ask `Audience.separation` before they tell users of each other.
final class Blocks: Feature {
  private(set) var table: BlockTable

  init(_ table: BlockTable) { self.table = table }

  // MARK: - Requests

  func receive(
    _ blocked: String, _ on: Bool, ref: String?, from session: Slot<Session>,
    in audience: inout some Audience & ~Copyable
  ) {
    let user = audience.user(of: session)
    guard blocked != user else {
      let error = WireError(
        .badField, "You cannot block yourself.", re: .block, field: "user")
      audience.reply(error, ref: ref, to: session)
      return
    }
    let origin = audience.origin(.block, ref: ref, session)
    audience.submit(
      .block(LogRequest.Block(user: user, blocked: blocked, on: on, origin: origin)))
  }

  func list(
    ref: String?, for session: Slot<Session>, in audience: inout some Audience & ~Copyable
  ) {
    audience.reply(
      .blocks(table.users(blockedBy: audience.user(of: session))), ref: ref, to: session)
  }

  // MARK: - Commits

  /// Applies a block that began or ended: the devices of the user are told, and to each of the two the
  /// other one seems to leave, or to come.
  func apply(
    _ change: BlockChange, in audience: inout some Audience & ~Copyable, _ presence: PresenceNews,
    _ typing: Typing
  ) {
    let (user, blocked) = (change.user, change.blocked)
    let wereSeparated = table.separation(of: user, blocked) != nil
    if !wereSeparated {
      typing.end(user, for: blocked, in: &audience)
      typing.end(blocked, for: user, in: &audience)
    }
    table.apply(change)
    encode(for: user, in: &audience)
    audience.forEachSession(of: user) { audience, session in
      audience.inform(session, EphemeralKey(.blocks, nil, ""))
    }
    // The other's own block keeps them apart: a message now would tell of it, and of a presence.
    guard (table.separation(of: user, blocked) != nil) != wereSeparated else { return }
    presence.tell(user, to: blocked, in: &audience)
    presence.tell(blocked, to: user, in: &audience)
  }

  /// Takes all blocks, after which those before do not count.
  func replace(with all: BlockTable) { table = all }

  /// Encodes the users that a user has blocked, for a session that reads again.
  func encode(for user: String, in audience: inout some Audience & ~Copyable) {
    audience.encode(.blocks(table.users(blockedBy: user)))
  }
}
