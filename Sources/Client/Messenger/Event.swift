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
