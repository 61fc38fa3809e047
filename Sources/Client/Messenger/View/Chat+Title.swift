extension Chat {
  /// The title of the terminal's window: "(3) Grace Hopper – wschat", with the number of unread
  /// messages.
  public var windowTitle: String {
    let count = unreadCount
    let unread = count > 0 ? "(\(count)) " : ""
    guard let open else { return unread + "wschat" }
    let sign = open.peer == nil ? "#" : ""
    return "\(unread)\(sign)\(ShownText.line(open.title)) – wschat"
  }
}
