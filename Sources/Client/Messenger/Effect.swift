public import Archive
public import Wire

/// A request to the driver, to be performed in order.
public enum Effect: Equatable, Sendable {
  public enum Sound: Equatable, Sendable { case sent, received }

  /// Subscribe to a room from where the archive ends. If that is too far from the known `head`,
  /// subscribe to the newest entries only.
  case join(String, head: Int64?)
  case request(ClientMessage)
  /// The same, with this `ref`, which the answer names.
  case ask(ClientMessage, ref: String)
  case mark(String, received: Int64, read: Int64)
  /// Store it, then send it until it is acknowledged.
  case send(ClientMessage.Send, at: Int64)
  /// Send what changes a room. It is not stored.
  case change(ClientMessage.Send)
  /// Store a message that waits for the file of another one; `sendHeld` follows.
  case hold(ClientMessage.Send, at: Int64)
  case sendHeld(ClientMessage.Send)
  /// Store a message that waits for its own file. Answer with `upload` if that succeeds.
  case keepUpload(ChosenFile, FileContent, id: String, room: String, at: Int64)
  /// Upload a file for the message with this id, or go on with an upload that the relay has under an id of its own. Answer with
  /// `upload`.
  case upload(ChosenFile, id: String, room: String, continuing: String? = nil)
  case cancelUpload(id: String)
  /// Find files of this machine. Answer with `filesFound`.
  case findFiles(FileChoice)
  /// Find the paths that begin like this. Answer with `pathsFound`.
  case findPaths(String)
  /// Download a file, and have another program open the copy; if that may be a program, answer with
  /// `programFound`.
  case openFile(FileContent)
  case openCopy(name: String, path: String)
  /// Download a file to a path, or to the folder of downloads.
  case saveFile(FileContent, to: String?)
  /// Send a refused message again.
  case retry(ClientMessage.Send)
  case discard(room: String, id: String)
  /// Give up a message that was never sent. Answer with `takenBack` or `failed`.
  case takeBack(room: String, id: String, edits: Bool)
  /// Give up the membership of a room, and delete its messages here.
  case leave(String)
  /// Answer with `page` or `noPage`.
  case load(room: String, before: Int64?)
  /// The same for the messages after the last loaded one. Answer with `newer`.
  case loadNewer(room: String, after: Int64)
  /// Search the archive. Answer with `found`, perhaps several times.
  case find(String, wanted: Int)
  case endFind
  /// Find a place in a conversation. Answer with `sought`.
  case seek(room: String, Chat.Place)
  /// Request a page of older entries from the relay, for the archive. Answer with `noOlder` if that
  /// is not possible; the page itself comes from the client.
  case fetchOlder(String)
  /// Answer with `counted`, if the archive can tell.
  case count(room: String, after: Int64)
  /// Answer with `quoted`, if the archive has it.
  case quote(room: String, seq: Int64)
  /// Store the state of a conversation.
  case save(String)
  /// Store a draft in place of the version that it was made from; answer with `draftKept`. An empty
  /// one is deleted.
  case saveDraft(room: String, String, inPlaceOf: Archive.Draft.Version?)
  /// The draft becomes the message that the next effect sends: delete it when that is stored.
  case endDraft(room: String, Archive.Draft.Version)
  case saveNames([String: String])
  /// Let the user change a text in an editor. Answer with `edited` or `notEdited`; until then the
  /// screen is not seen.
  case edit(String, limitBytes: Int)
  /// Put a text into the clipboard; it has the texts of `count` messages.
  case copy(String, count: Int = 1)
  case open(String)
  case notify(title: String, body: String)
  case bell
  case sound(Sound)
  /// Sign in again. Answer with `signIn`, and `signedIn` at the end.
  case signIn
  /// Give up the sign-in.
  case endSignIn
  /// Drop the connection, or end the wait for the next attempt, and connect at once.
  case reconnect
  case redraw
  case suspend
  case quit
}
