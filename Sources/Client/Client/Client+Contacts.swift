import Wire

/// Who may write to the user, and what moderators are told.
///
/// Each call sends a request once, and returns the `ref` that ``ClientEvent/answered(ref:)`` or an `error`
/// will carry; `nil` without a connection. If the connection is lost before the answer, repeat the call: a
/// second one changes nothing. As all calls, these are made on the loop's thread.
extension Client {
  /// Ends all contact with a user, who is not told. What they send to the direct room arrives as entries
  /// of kind `hidden`, which have a place and no content.
  ///
  /// The relay also sends `blocks`, with all users that are blocked, to every client of the user.
  @discardableResult
  public func block(_ user: String) -> String? { ask(.block(user: user, on: true)) }

  /// Lets contact begin again. What is hidden stays so.
  @discardableResult
  public func unblock(_ user: String) -> String? { ask(.block(user: user, on: false)) }

  /// Accepts the direct room of a user who was not known: it is no request any more.
  @discardableResult
  public func accept(_ room: String) -> String? { ask(.accept(room: room)) }

  /// Shows a message to the moderators of its room, and to the operators of the relay.
  /// - Parameter reason: One line of 1 to 500 characters.
  @discardableResult
  public func report(_ seq: Int64, in room: String, reason: String) -> String? {
    ask(.report(room: room, seq: seq, reason: reason))
  }

  /// Requests what was reported about a room of which the user is a moderator. It arrives as
  /// ``ClientEvent/message(_:)`` with `reports`.
  /// - Parameter room: `nil` for all rooms, which only operators may ask.
  @discardableResult
  public func reports(of room: String? = nil) -> String? { ask(.reports(room: room)) }

  private func ask(_ message: ClientMessage) -> String? {
    requestCount += 1
    let ref = "r\(requestCount)"
    return request(message, ref: ref) ? ref : nil
  }
}
