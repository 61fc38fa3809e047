public import Wire

/// Rooms with members: what they are called, who belongs to them, and who may do what.
///
/// All of it is entries of the room. Each call sends one, again if necessary, and returns the id that
/// ``ClientEvent/acknowledged(_:)`` or ``ClientEvent/refused(_:_:)`` will carry; `forbidden` says that
/// the user's role does not allow it. What has changed arrives as ``ClientEvent/entry(_:)``. As all
/// calls, these are made on the loop's thread.
extension Client {
  /// Returns the settings and members of a joined room, up to the last entry that was delivered;
  /// `nil` if the room is not joined.
  public func membership(of room: String) -> Membership? {
    execution.session.membership(of: room)
  }

  /// Makes a room, of which the user is the owner. Its name, which the relay chooses so that no one
  /// can guess it, is the `room` of the acknowledgement.
  /// - Parameter settings: At least one.
  @discardableResult
  public func createRoom(_ settings: RoomSettings.Change) -> String { change(settings, of: "") }

  /// Changes settings; those that are `nil` stay. Of a room without entries the user becomes the
  /// owner.
  @discardableResult
  public func change(_ settings: RoomSettings.Change, of room: String) -> String {
    send(.settings, settings.body, to: room)
  }

  /// Lets a user into a room, who then has it in `rooms`.
  @discardableResult
  public func invite(_ user: String, to room: String, as role: Role = .member) -> String {
    setRole(of: user, in: room, to: role)
  }

  /// Removes a member; for the user's own name, leaves the room for good.
  /// - Parameter reason: One line of at most 500 characters, for all members.
  @discardableResult
  public func remove(_ user: String, from room: String, reason: String? = nil) -> String {
    setRole(of: user, in: room, to: .none, reason: reason)
  }

  /// Removes a user, who cannot join again.
  /// - Parameter until: The end of the ban, in milliseconds since 1970; `nil` for none.
  @discardableResult
  public func ban(
    _ user: String, from room: String, until: Int64? = nil, reason: String? = nil
  ) -> String {
    setRole(of: user, in: room, to: .banned, until: until, reason: reason)
  }

  /// Lets a member read and not send.
  /// - Parameter until: As for ``ban(_:from:until:reason:)``.
  @discardableResult
  public func mute(
    _ user: String, in room: String, until: Int64? = nil, reason: String? = nil
  ) -> String {
    setRole(of: user, in: room, to: .muted, until: until, reason: reason)
  }

  /// Makes a user something else in a room. The other calls are short forms of this one.
  @discardableResult
  public func setRole(
    of user: String, in room: String, to role: Role, until: Int64? = nil, reason: String? = nil
  ) -> String {
    let change = MemberChange(user: user, role: role, until: until, reason: reason)
    return send(.member, change.body, to: room)
  }
}
