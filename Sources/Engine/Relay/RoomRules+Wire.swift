import Moderation
import Wire

/// What the rules of a room say, in messages to clients.
extension RoomRules {
  /// Returns what a room with these rules is to a user.
  func description(for actor: Actor, _ now: Int64) -> ServerMessage.RoomDescription {
    ServerMessage.RoomDescription(
      title: settings.title, topic: settings.topic, access: settings.access,
      role: actor.standing == .unnamed ? nil : actor.standing.role(now))
  }
}

extension WireError {
  /// A room that does not exist for a user.
  static func hidden(_ room: String, re: RequestName) -> WireError {
    WireError(
      .noSuchRoom, "There is no room \(room) that you may enter; use another name.", re: re,
      room: room)
  }
}

extension RoomRules.Refusal {
  func wireError(re: RequestName, room: String) -> WireError {
    switch self {
    case .noSuchRoom: return .hidden(room, re: re)
    case .tooEarly(let milliseconds):
      return WireError(
        .rateLimited, "Room \(room) is slow: wait before you send the next text.", re: re,
        room: room, field: "slow_s", retryAfterMilliseconds: milliseconds)
    case .forbidden(_, .full):
      return WireError(
        .limitReached, "Room \(room) has as many members, or as many banned users, as it may have.",
        re: re, room: room, field: "members_per_room")
    case .forbidden(let until, let reason):
      var error = WireError(.forbidden, reason.text(room), re: re, room: room)
      error.until = until
      if reason == .lastOwner { error.field = "role" }
      return error
    }
  }
}

extension RoomRules.Reason {
  fileprivate func text(_ room: String) -> String {
    switch self {
    case .banned: "You are banned from \(room)."
    case .muted: "You are muted in \(room)."
    case .mayNotPost: "Only moderators may post in \(room)."
    case .notAnOwner: "Only an owner of \(room) may change who enters, and what new members read."
    case .notAModerator: "Only owners and moderators of \(room) may do this."
    case .notBelow: "You may act on users with a lower role than yours, and give lower roles only."
    case .lastOwner: "Room \(room) needs an owner: make another member an owner first."
    case .ownRole: "You may leave \(room), and not choose another role for yourself."
    case .full: "Room \(room) is full."
    }
  }
}
