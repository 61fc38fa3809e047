public import Wire

/// What is to be done, in order, by the driver.
public enum Effect: Equatable, Sendable {
  public enum Sound: Equatable, Sendable { case sent, received }

  /// Have a room's entries come by themselves, from where the archive has them, unless that is
  /// too far behind `head`, the newest of which is known: then only the last ones.
  case join(String, head: Int64?)
  case request(ClientMessage)
  case mark(String, received: Int64, read: Int64)
  /// Keep it, then send it until it is acknowledged.
  case send(ClientMessage.Send, at: Int64)
  /// Send again what was refused.
  case retry(ClientMessage.Send)
  case discard(room: String, id: String)
  /// Answer with `page` or `noPage`.
  case load(room: String, before: Int64?)
  /// Answer with `counted`, if the archive can tell.
  case count(room: String, after: Int64)
  /// Answer with `quoted`, if it is there.
  case quote(room: String, seq: Int64)
  /// Remember what a conversation is.
  case save(String)
  case saveNames([String: String])
  case copy(String)
  case open(String)
  case notify(title: String, body: String)
  case bell
  case sound(Sound)
  case redraw
  case suspend
  case quit
}
