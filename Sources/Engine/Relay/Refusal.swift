public import Wire

/// The refusals that several parts of the relay give, with one text for each.
public enum Refusal {
  /// How long a client waits before it sends again, in order.
  public static let retryAfterMilliseconds: Int64 = 1000
}

extension WireError {
  /// The connection would have to join the room first.
  static func notJoined(_ room: String, re: RequestName) -> WireError {
    WireError(.notJoined, "This connection has not joined \(room).", re: re, room: room)
  }

  /// The user would have to become a member of the room first.
  static func notMember(of room: String, re: RequestName) -> WireError {
    WireError(.notJoined, "You do not belong to \(room); join it first.", re: re, room: room)
  }

  /// The log cannot write, or cannot read what the request needs.
  static func unavailable(
    re: RequestName, room: String?, id: String? = nil, ref: String? = nil,
    retryAfterMilliseconds: Int64 = Refusal.retryAfterMilliseconds
  ) -> WireError {
    var error = WireError(
      .unavailable,
      "The log is unavailable. "
        + (re == .send
          ? "Nothing was stored; retry with the same id."
          : "The request was not carried out; retry."),
      re: re, room: room, id: id, retryAfterMilliseconds: retryAfterMilliseconds)
    error.ref = ref
    return error
  }

  static func badCursor(re: RequestName) -> WireError {
    WireError(
      .badField, "\"cursor\" must be the \"next\" of an earlier answer.", re: re, field: "cursor")
  }

  /// The name is that of the sender of the relay's own entries.
  public static let relaysName = WireError(
    .forbidden, "The name \(UserName.relay) is the relay's own.", re: .auth)

  /// - Parameter until: when that ends, in milliseconds since 1970; `nil` = never.
  public static func banned(_ user: String, until: Int64? = nil) -> WireError {
    var error = WireError(.forbidden, "\(user) is banned from this relay.")
    error.until = until
    return error
  }
}
