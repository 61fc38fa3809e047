public import Archive
public import Client
public import Terminal
public import Wire

/// An input of the chat.
public enum Event: Sendable {
  case input(InputEvent)
  case resized(Size)
  /// Time has passed: see `Chat.deadline`.
  case tick
  case client(ClientEvent)
  /// The content of the archive, at the start.
  case restored(Restored)
  /// Entries of a conversation from the archive, each in its current state: the newest, or those
  /// before `before`. `isComplete` if there are none before them, neither here nor at the relay.
  case page(room: String, before: Int64?, [Entry], isComplete: Bool)
  /// No page can be loaded.
  case noPage(room: String)
  /// Entries after `after` from the archive. `isNewest` if there are none after them.
  case newer(room: String, after: Int64, [Entry], isNewest: Bool)
  /// Messages that a search has found.
  case found(Chat.Found)
  case sought(room: String, Chat.Place, Chat.Sought)
  /// No older entries can be requested.
  case noOlder(room: String)
  /// The number of unread entries of others.
  case counted(room: String, unread: Int64)
  /// The entry that a reply quotes.
  case quoted(room: String, Entry)
  /// The stored drafts, by room, the newest first: at the start, and when another instance of wschat
  /// may have changed them.
  case drafts([String: [Archive.Draft]])
  /// A draft was stored; `nil` for an empty one.
  case draftKept(room: String, inPlaceOf: Archive.Draft.Version?, Archive.Draft.Version?)
  /// Another instance has changed these.
  case shared([Archive.SharedState])
  /// Messages of an instance that has ended; `originals` as in `Restored`.
  case takenOver([Chat.Outgoing], originals: [String: Entry])
  /// A message will not be sent; with `edits`, its text goes back into the composer.
  case takenBack(room: String, id: String, edits: Bool)
  /// What the user's editor has left, or why there is nothing.
  case edited(String)
  case notEdited(String)
  /// What the paths of a choice are.
  /// - Parameter problem: Why they cannot be sent.
  case filesFound(FileChoice, [ChosenFile], problem: String?)
  case pathsFound(for: String, [String])
  /// How the upload for the message with this id goes on.
  case upload(id: String, Upload.News)
  /// A file that was downloaded to be opened may be a program.
  case programFound(name: String, path: String)
  /// How a sign-in goes on.
  case signIn(Chat.SignIn)
  /// There is a new token, of this user.
  case signedIn(String)
  /// An effect failed.
  case failed(String)
  /// Something is wrong from now on, or is so no longer (`nil`).
  case condition(Chat.Condition, String?)
  /// Whether a message is stored on this machine.
  case kept(id: String, Bool)
  /// An effect without visible result was performed.
  case done(String)

  /// The content of the archive at the start.
  public struct Restored: Sendable {
    public var conversations: [Conversation]
    public var names: [String: String]
    public var outgoing: [Chat.Outgoing]
    /// The originals that outgoing messages forward, by the outgoing id, if the archive has them.
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
