public import Client
public import Terminal
public import Wire

/// What a chat is told.
public enum Event: Sendable {
  case input(InputEvent)
  case resized(Size)
  /// Time has passed: see `Chat.deadline`.
  case tick
  case client(ClientEvent)
  /// What was kept, at the start.
  case restored(Restored)
  /// Entries of a conversation from the archive, each in its current state: the newest, or those
  /// before `before`. `isComplete` where there is none before them, here or at the relay.
  case page(room: String, before: Int64?, [Entry], isComplete: Bool)
  /// There is nothing that a page could come from.
  case noPage(room: String)
  /// How many entries of others are unread.
  case counted(room: String, unread: Int64)
  /// The entry that a reply quotes.
  case quoted(room: String, Entry)
  /// Something that the driver tried went wrong.
  case failed(String)
  /// Something was done that is not seen.
  case done(String)

  /// What the archive has at the start.
  public struct Restored: Sendable {
    public var conversations: [Conversation]
    public var names: [String: String]
    public var outgoing: [Chat.Outgoing]
    /// What is forwarded by some of it, by its id, as far as that is here.
    public var originals: [String: Entry]

    public init(
      conversations: [Conversation], names: [String: String], outgoing: [Chat.Outgoing],
      originals: [String: Entry] = [:]
    ) {
      self.conversations = conversations
      self.names = names
      self.outgoing = outgoing
      self.originals = originals
    }
  }
}

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
