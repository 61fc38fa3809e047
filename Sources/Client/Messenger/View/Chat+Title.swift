extension Chat {
  /// The title of the terminal's window: "(3) Grace Hopper – wschat", with the number of unread
  /// messages, and the profile after it if one was chosen.
  public var windowTitle: String {
    let count = unreadCount
    let unread = count > 0 ? "(\(count)) " : ""
    let program = settings.profile.map { "wschat (\($0))" } ?? "wschat"
    guard let open else { return unread + program }
    let sign = open.peer == nil ? "#" : ""
    return "\(unread)\(sign)\(ShownText.line(open.title)) – \(program)"
  }
}
