import Wire

/// `typing`: who of a room is writing. The others of the room are told, at most once per interval.
///
/// Typing is stored nowhere. The log passes it on to all loops in the order of commits; it ends by
/// itself if it is not repeated, and silently with the user's next entry.
final class Typing: Feature {
  private var typers = Typers()
  private var throttle = Throttle<EphemeralKey, Bool>()

  /// Handles the request of a client.
  func receive(
    _ room: String, _ on: Bool, ref: String?, from session: Slot<Session>,
    in audience: inout some Audience & ~Copyable
  ) {
    guard audience.hasSubscribed(to: room, session) else {
      audience.reply(.notJoined(room, re: .typing), ref: ref, to: session)
      return
    }
    let origin = ref == nil ? nil : audience.origin(.typing, ref: ref, session)
    audience.submit(.typing(room: room, user: audience.user(of: session), on: on, from: origin))
  }

  /// Applies what a commit says.
  func apply(
    _ change: Commit.TypingChange, in audience: inout some Audience & ~Copyable, _ now: Moment
  ) {
    guard let room = audience.room(named: change.room) else { return }
    let key = EphemeralKey(.typing, room, change.user)
    if change.on {
      typers.start(key, now: now.monotonic)
    } else {
      typers.stop(key)
    }
    show(change.on, key, in: &audience, now)
  }

  /// An entry ends the typing of its sender without a message.
  func end(with span: Commit.RoomSpan, of commit: Commit, in room: Handle<Room>) {
    guard !typers.isEmpty else { return }
    for frame in span.frames {
      let key = EphemeralKey(.typing, room, commit.senders[frame])
      if typers.stop(key) { throttle.cancel(key) }
    }
  }

  /// Two users are about to be separated: one of them is told that the other one does not type any more, as
  /// if that one had gone offline.
  func end(
    _ user: String, for viewer: String, in audience: inout some Audience & ~Copyable
  ) {
    for key in typers.keys(of: user) {
      guard let room = audience.name(of: key.room) else { continue }
      audience.encode(.typing(room: room, user: user, on: false))
      audience.inform(.other(viewer), key)
    }
  }

  private func show(
    _ on: Bool, _ key: EphemeralKey, in audience: inout some Audience & ~Copyable, _ now: Moment
  ) {
    if throttle.admit(on, for: key, now: now.monotonic) { tell(on, key, in: &audience) }
  }

  private func tell(
    _ on: Bool, _ key: EphemeralKey, in audience: inout some Audience & ~Copyable
  ) {
    guard let room = audience.name(of: key.room) else { return }
    audience.encode(.typing(room: room, user: key.user, on: on))
    audience.inform(.others, key)
  }

  /// Encodes the state of a user's typing, in a room that this loop knows, for a session that reads
  /// again.
  func encode(_ key: EphemeralKey, in audience: inout some Audience & ~Copyable) {
    guard let room = audience.name(of: key.room) else { return }
    audience.encode(.typing(room: room, user: key.user, on: typers.isTyping(key)))
  }

  // MARK: - Time

  var nextDeadline: Int64? { earlier(typers.nextDeadline, throttle.nextDeadline) }

  func tick(in audience: inout some Audience & ~Copyable, _ now: Moment) {
    while let (key, on) = throttle.takeDue(now: now.monotonic) { tell(on, key, in: &audience) }
    while let key = typers.takeExpired(now: now.monotonic) { show(false, key, in: &audience, now) }
  }

  var timerCount: Int { typers.timerCount + throttle.timerCount }
  var isLoose: Bool { typers.isLoose || throttle.isLoose }

  func shrink() {
    typers.shrink()
    throttle.shrink()
  }
}
