/// The export of another chat. It is read room by room, each in the order of time.
protocol ForeignExport {
  /// The people that it lists, in its order.
  var people: [ForeignPerson] { get }

  /// Begins the next room; what is left of the last one is skipped. `nil` after the last.
  mutating func nextRoom() throws(UnreadableExport) -> ForeignRoom?

  /// Returns some messages of the room that was begun last; `nil` after its last.
  /// - Parameter names: gives users their names, in texts.
  mutating func nextMessages(
    _ names: inout PeopleNames
  ) throws(UnreadableExport) -> [ForeignMessage]?

  /// What it has left out so far, by reason.
  var omissions: Omissions { get }
}

/// Someone who has written, or could have.
struct ForeignPerson {
  /// By which messages refer to the person.
  var key: String
  /// As people know it there.
  var name: String
}

/// A channel or a conversation of another chat.
struct ForeignRoom {
  enum Access {
    case open
    /// For its members.
    case `private`
    /// Of two people.
    case direct
    /// Why it must be left out.
    case unknown(String)
  }

  /// As people know it there, without `#`.
  var name: String
  var access: Access
  var title = ""
  var topic = ""
  /// The keys of people. In an open room its senders are members, too.
  var members: [String] = []
  /// The keys of those who may change it, if they are known.
  var owners: [String] = []
}

struct ForeignMessage {
  /// In its room, by which replies refer to it.
  var key: Int64
  /// Unique in its room and the same in each export, in ASCII.
  var id: String
  /// The key of a person.
  var sender: String
  /// In milliseconds since 1970; 0 if what the export has is no time.
  var at: Int64
  var text: String
  /// The file, and the line or the message in it, for the operator.
  var place: String
  /// The key of the message to which it replies.
  var replyTo: Int64?
  var isRepliedTo = false
  var reactions: [ForeignReaction] = []
}

/// An emoji that people have given.
struct ForeignReaction {
  /// Its short code, as in `:tada:`.
  var code: String
  /// The keys of people.
  var senders: [String]
}
